/** Decides whose look begins next. Hosts whose look cannot begin now are passed over, so that they delay nobody. */
import type { Address } from '../../scanner/guard/name-servers.ts';
import type { DueOrigin } from '../store/census.ts';
import type { Lease } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { toNetwork } from '../turns/client-key.ts';
import { LimitReached } from '../turns/origin-turns.ts';

type QueueFacts = {
  /** Names of the domains and networks that are asked now, by any instance. */
  readonly leased: ReadonlySet<string>;
  /** True if a weekly scan cannot begin, because a paid scan runs. */
  readonly isPaidScanRunning: boolean;
  readonly isWeeklyScanDue: (due: DueOrigin) => boolean;
  readonly limit: number;
};

/** A domain or network whose looks took longer than this today goes last. */
const MAX_USED_MS = 60_000;

/** Chooses the next looks of this process. Remembers rejected hosts, and the time that looks took. */
export class LookQueue {
  /** The time at which a limit rejected the look of a host. The queue sorts the host as if it became due then. */
  readonly #rejectedAtMs = new Map<string, number>();
  readonly #usedMs = new Map<string, number>();
  #day = 0;

  reject(host: string, nowMs: number): void {
    this.#rejectedAtMs.set(host, nowMs);
  }

  /** Call it when the look of a host has ended. */
  forgetRejection(host: string): void {
    this.#rejectedAtMs.delete(host);
  }

  /** Counts the time of a look for its domain and networks. */
  countTime(targets: readonly string[], ms: number, day: number): void {
    if (day !== this.#day) this.#usedMs.clear();
    this.#day = day;
    for (const target of targets) this.#usedMs.set(target, (this.#usedMs.get(target) ?? 0) + ms);
  }

  /** Chooses due hosts, at most one of a domain and one of a network. A host's network is that of its last look. */
  choose(due: readonly DueOrigin[], facts: QueueFacts): readonly string[] {
    const { leased, isPaidScanRunning, isWeeklyScanDue, limit } = facts;
    const busyTargets = new Set(leased);
    const chosen: string[] = [];
    for (const origin of this.#sort(due)) {
      if (chosen.length >= limit) break;
      const targets = listTargets(origin);
      if (targets.some((target) => busyTargets.has(target))) continue;
      if (isPaidScanRunning && isWeeklyScanDue(origin)) continue;
      for (const target of targets) busyTargets.add(target);
      chosen.push(origin.host);
    }
    return chosen;
  }

  #sort(due: readonly DueOrigin[]): readonly DueOrigin[] {
    const ranked = due.map((origin) => ({
      origin,
      isSlow: listTargets(origin).some((target) => (this.#usedMs.get(target) ?? 0) > MAX_USED_MS),
      sinceMs: Math.max(origin.lookAtMs, this.#rejectedAtMs.get(origin.host) ?? 0),
    }));
    return ranked
      .sort((a, b) => Number(a.isSlow) - Number(b.isSlow) || a.sinceMs - b.sinceMs)
      .map(({ origin }) => origin);
  }
}

function listTargets({ domain, network }: Pick<DueOrigin, 'domain' | 'network'>) {
  const domainTarget = toDomainTarget(domain);
  return network === null ? [domainTarget] : [domainTarget, toNetworkTarget(network)];
}

/** Longer than a look can take, with its waits, its scan and three requests. */
const LEASE_MS = 240_000;
/** All leases of domains and networks have this group, by which all instances find them. */
export const LOOK_LEASES = 'census-looks';

/** The leases of one look. They keep other looks away from its registrable domain and its networks. */
export class LookLeases {
  readonly #leases: Store['leases'];
  readonly #domain: string;
  readonly #networks = new Set<string>();
  readonly #taken: Lease[] = [];

  /** @param domain the registrable domain of the origin */
  constructor({ leases }: Pick<Store, 'leases'>, domain: string) {
    this.#leases = leases;
    this.#domain = domain;
  }

  /** The first network of the origin. An origin without an address counts as a network of its own, by its domain. */
  get networkOrDomain(): string {
    const [network = this.#domain] = this.#networks;
    return network;
  }

  get targets(): readonly string[] {
    return [toDomainTarget(this.#domain), ...[...this.#networks].map(toNetworkTarget)];
  }

  get hasNetworks(): boolean {
    return this.#networks.size > 0;
  }

  /** Throws LimitReached if another look asks the domain now. */
  takeDomain(): Promise<void> {
    return this.#take(toDomainTarget(this.#domain));
  }

  /** Throws LimitReached if another look asks one of the networks now. */
  async takeNetworks(addresses: readonly Address[]): Promise<void> {
    for (const network of toNetworks(addresses)) {
      await this.#take(toNetworkTarget(network));
      this.#networks.add(network);
    }
  }

  async release(): Promise<void> {
    for (const lease of this.#taken) await this.#leases.release(lease);
  }

  async #take(target: string): Promise<void> {
    const outcome = await this.#leases.take({
      scope: [LOOK_LEASES, target],
      group: LOOK_LEASES,
      data: target,
      limit: 1,
      lifetimeMs: LEASE_MS,
      endsWithOwner: true,
    });
    if (!outcome.taken) throw new LimitReached();
    this.#taken.push(outcome.lease);
  }
}

export function toNetworks(addresses: readonly Address[]): readonly string[] {
  return [...new Set(addresses.map(({ address }) => toNetwork(address)))];
}

function toDomainTarget(domain: string): string {
  return `domain ${domain}`;
}

function toNetworkTarget(network: string): string {
  return `network ${network}`;
}
