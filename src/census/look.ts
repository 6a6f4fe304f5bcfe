import { OriginRefused } from '../guard/errors.ts';
import { type Origin, type OriginPolicy, parseOrigin } from '../guard/origin.ts';
import type { Address } from '../guard/resolve.ts';
import { toNetwork } from '../limits/client-key.ts';
import type { OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import {
  inTurn,
  NoPlace,
  type ResolveOrigin,
  scanForFree,
  type TurnResult,
  underLease,
} from '../looks/in-turn.ts';
import type { DayWord } from '../model/availability.ts';
import { dayWord, type ResourceSign } from '../scan/day-word.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { ScanCoordinator } from '../scan/scan-coordinator.ts';
import type { Scanner } from '../scan/scanner.ts';
import type { CensusOrigin } from '../store/census.ts';
import type { Slot } from '../store/slots.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { type AllowedPaths, type AskListed, ROBOTS_AGENT } from './ask-listed.ts';
import { type CensusListing, toListing } from './listing.ts';

export type CensusLookOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly scanCoordinator: Pick<ScanCoordinator, 'run' | 'join' | 'running' | 'publish'>;
  /** Scans under the census's own name, and asks the indexes at its rate. */
  readonly scanner: Pick<Scanner, 'scan'>;
  readonly askListed: AskListed;
  readonly resolve: ResolveOrigin;
  readonly turns: Pick<OriginTurns, 'enter'>;
  readonly onError: (message: string, error: unknown) => void;
};

/** The result of the requests of a day. */
export type Sight = {
  readonly word: DayWord;
  /** True if the origin gave no answer at all; the fault may be ours. */
  readonly isSilent: boolean;
  /** The finished scan, if it was a scan. */
  readonly scan: FinishedScan | null;
  readonly allowed: AllowedPaths | null;
  readonly restMs: number | null;
};

const TURN_WITHIN_MS = 5_000;
/** A look waits for its turns, and takes a scan and three requests. */
const LEASE_MS = 240_000;
const OURS: Sight = {
  word: 'not_checked',
  isSilent: false,
  scan: null,
  allowed: null,
  restMs: null,
};

/** One look at one origin; the caller holds the lease of its host. */
export class CensusLook {
  readonly #options: CensusLookOptions;
  readonly #row: CensusOrigin;
  readonly #origin: Origin;
  readonly #listing: CensusListing;
  readonly #networks = new Set<string>();
  readonly #leases: Slot[] = [];

  constructor(options: CensusLookOptions, row: CensusOrigin) {
    this.#options = options;
    this.#row = row;
    this.#origin = parseOrigin(row.originUrl, options.policy);
    this.#listing = toListing(row.listing);
  }

  /** A resolved network, or the registrable domain. */
  get place(): string {
    const [network = this.#row.domain] = this.#networks;
    return network;
  }

  /** Asks the origin within all limits. Throws NoPlace if one of them leaves no room now. */
  async run(isScan: boolean): Promise<Sight> {
    const { store, turns } = this.#options;
    const { domain } = this.#row;
    const request = {
      kind: 'census',
      origin: this.#origin,
      blocks: new Set(['census']),
      domain,
      withinMs: TURN_WITHIN_MS,
    } as const;
    return underLease(store, ['census-domain', domain], LEASE_MS, async () => {
      try {
        const work = (turn: OriginTurn) => (isScan ? this.#scan(turn) : this.#ask(turn));
        return await inTurn(turns, request, work);
      } finally {
        for (const lease of this.#leases) await store.slots.release(lease);
      }
    });
  }

  async #ask(turn: OriginTurn): Promise<TurnResult<Sight>> {
    const { askListed, onError } = this.#options;
    const { resources } = this.#listing;
    const allowed = this.#knownRobots();
    const paths = resources.map(({ path }) => path);
    const robotsFor = paths.every((path) => path in allowed) ? [] : paths;
    try {
      const question = { resources, allowed, robotsFor };
      const admit: OriginTurn['toward'] = (found) => this.#admit(turn, found);
      const { signs, handshakeMs, ...facts } = await askListed(this.#origin, question, admit);
      const isSilent = signs.length > 0 && signs.every(hasNoAnswer);
      return { result: { ...facts, word: dayWord(signs), isSilent, scan: null }, handshakeMs };
    } catch (error) {
      if (error instanceof NoPlace) throw error;
      onError('a look of the census failed', error);
      return { result: OURS, handshakeMs: 0 };
    }
  }

  async #scan(turn: OriginTurn): Promise<TurnResult<Sight>> {
    const { askListed, scanCoordinator, onError } = this.#options;
    if (scanCoordinator.running() > 0) throw new NoPlace();
    // A second scan would ask the origin everything twice.
    if (scanCoordinator.join(this.#origin, { isFree: true }) !== null) throw new NoPlace();
    const admit: OriginTurn['toward'] = (found) => this.#admit(turn, found);
    const { resources } = this.#listing;
    const robotsFor = resources.length > 0 ? resources.map(({ path }) => path) : ['/'];
    let handshakeMs = 0;
    try {
      const question = { resources: [], allowed: {}, robotsFor };
      const { signs: _, ...robots } = await askListed(this.#origin, question, admit);
      handshakeMs = robots.handshakeMs;
      const allowed = robots.allowed ?? this.#knownRobots();
      const facts = { allowed: robots.allowed, restMs: robots.restMs };
      const isRefused = robotsFor.every((path) => allowed[path] === false);
      if (isRefused || robots.restMs !== null)
        return { result: { ...OURS, ...facts }, handshakeMs };
      return { result: { ...facts, ...(await this.#scanAllowed(admit)) }, handshakeMs };
    } catch (error) {
      if (error instanceof NoPlace) throw error;
      // Its name resolves to an address that no buyer can reach.
      const isRefused = error instanceof OriginRefused;
      if (isRefused) return { result: { ...OURS, word: 'down', isSilent: true }, handshakeMs };
      onError('a scan of the census failed', error);
      return { result: OURS, handshakeMs };
    }
  }

  async #scanAllowed(admit: OriginTurn['toward']) {
    const { scanCoordinator, scanner, resolve } = this.#options;
    const census = { listed: this.#listing.resources, robotsAgent: ROBOTS_AGENT };
    await this.#begin();
    const scan = await scanForFree(
      this.#origin,
      { scanCoordinator, resolve, admit },
      { scanner: { scan: (origin, options) => scanner.scan(origin, { ...options, census }) } },
    );
    return { word: scan.dayWord ?? ('not_checked' as const), isSilent: !scan.reached, scan };
  }

  #knownRobots(): AllowedPaths {
    // The census is the only writer of this document, and the store keeps it unchanged.
    return this.#row.robots as AllowedPaths;
  }

  /** Admits the addresses if nobody asks their networks now; the first request is noted before it is sent. */
  async #admit(turn: OriginTurn, addresses: readonly Address[]): Promise<boolean> {
    if (!(await turn.toward(addresses))) return false;
    if (this.#networks.size > 0) return true;
    const { slots } = this.#options.store;
    for (const network of new Set(addresses.map(({ address }) => toNetwork(address)))) {
      const lease = await slots.lease(['census-network', network], LEASE_MS);
      if (!lease.taken) return false;
      this.#leases.push(lease.slot);
      this.#networks.add(network);
    }
    await this.#begin();
    return true;
  }

  /** After a crash the day has no second look. */
  async #begin(): Promise<void> {
    const { census, now } = this.#options.store;
    await census.change(this.#row.host, { begunDay: utcDay(now()) });
  }
}

function hasNoAnswer({ status, reason }: ResourceSign): boolean {
  return status === null && reason !== null;
}
