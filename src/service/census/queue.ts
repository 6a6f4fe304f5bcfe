/** Decides whose look begins next. Hosts whose look cannot begin now are passed over, so that they delay nobody. */
import type { DueOrigin } from '../store/census.ts';
import { toDomainTarget, toNetworkTarget } from './look-leases.ts';

type QueueFacts = {
  /** Names of the domains and networks that are asked now, by any instance. */
  readonly leased: ReadonlySet<string>;
  /** True if a weekly scan cannot begin, because a paid scan runs. */
  readonly isPaidScanRunning: boolean;
  readonly isScanDue: (due: DueOrigin) => boolean;
  readonly limit: number;
};

/** A domain or network whose looks took longer than this today goes last. */
const MAX_USED_MS = 60_000;

/** Chooses the next looks of this process. Remembers rejected hosts, and the time that looks took. */
export class LookQueue {
  /** The time at which a limit rejected the look of a host. The host then goes behind those that were due before. */
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

  /** Chooses among due hosts: at most one of each domain and of each network at which the last look found a host. */
  choose(due: readonly DueOrigin[], facts: QueueFacts): readonly string[] {
    const { leased, isPaidScanRunning, isScanDue, limit } = facts;
    const busyTargets = new Set(leased);
    const chosen: string[] = [];
    for (const origin of this.#sort(due)) {
      if (chosen.length >= limit) break;
      const targets = listTargets(origin);
      if (targets.some((target) => busyTargets.has(target))) continue;
      if (isPaidScanRunning && isScanDue(origin)) continue;
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
