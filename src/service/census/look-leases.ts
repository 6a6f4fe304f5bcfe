/** The leases of one look. They keep other looks away from the same registrable domain and the same networks. */
import type { Address } from '../../scanner/guard/name-servers.ts';
import type { Lease } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { toNetwork } from '../turns/client-key.ts';
import { LimitReached } from '../turns/origin-turns.ts';

/** Longer than a look can take, with its waits, its scan and three requests. */
const LEASE_MS = 240_000;
/** All leases of domains and networks have this group, by which all instances find them. */
export const LOOK_LEASES = 'census-looks';

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

  /** The /24 or /48 of the origin's first address; its registrable domain before it was resolved. */
  get network(): string {
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
      ...{ scope: [LOOK_LEASES, target], group: LOOK_LEASES, data: target },
      ...{ limit: 1, lifetimeMs: LEASE_MS, endsWithOwner: true },
    });
    if (!outcome.taken) throw new LimitReached();
    this.#taken.push(outcome.lease);
  }
}

/** Returns each network of the addresses once, in the order of the addresses. */
export function toNetworks(addresses: readonly Address[]): readonly string[] {
  return [...new Set(addresses.map(({ address }) => toNetwork(address)))];
}

export function toDomainTarget(domain: string): string {
  return `domain ${domain}`;
}

export function toNetworkTarget(network: string): string {
  return `network ${network}`;
}
