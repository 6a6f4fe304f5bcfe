import type { Address } from '../guard/name-servers.ts';
import { type Origin, type OriginPolicy, parseOrigin } from '../guard/origin.ts';
import { toNetwork } from '../limits/client-key.ts';
import type { AdmitAddresses, OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import {
  LimitReached,
  type ResolveOrigin,
  runLook,
  scanForFree,
  type TurnResult,
  withLease,
} from '../looks/in-turn.ts';
import type { DayWord } from '../model/availability.ts';
import { toDayWord } from '../scan/day-word.ts';
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
  readonly scanCoordinator: Pick<ScanCoordinator, 'run' | 'running' | 'publish'>;
  /** Scans with the User-Agent of the census, and keeps its rate limit for indexes. */
  readonly scanner: Pick<Scanner, 'scan'>;
  readonly askListed: AskListed;
  readonly resolve: ResolveOrigin;
  readonly turns: Pick<OriginTurns, 'enter'>;
  readonly onError: (message: string, error: unknown) => void;
};

/** The result of a look or weekly scan. */
export type CensusLookResult = {
  readonly word: DayWord;
  /** True if the origin gave no answer at all. The fault may be ours. */
  readonly isSilent: boolean;
  /** Null if the look was not a scan. */
  readonly scan: FinishedScan | null;
  readonly allowed: AllowedPaths | null;
  /** The longest `Retry-After` of the answers; null if no answer was rate-limited. */
  readonly restMs: number | null;
};

const MAX_TURN_WAIT_MS = 5_000;
/** Longer than a look can take, with its waits, its scan and three requests. */
const LEASE_MS = 240_000;
const NOT_CHECKED: CensusLookResult = {
  word: 'not_checked',
  isSilent: false,
  scan: null,
  allowed: null,
  restMs: null,
};

/** One look at one origin. The caller holds the lease of its host. */
export class CensusLook {
  readonly #options: CensusLookOptions;
  readonly #row: CensusOrigin;
  readonly #day: number;
  readonly #origin: Origin;
  readonly #listing: CensusListing;
  readonly #networks = new Set<string>();
  readonly #leases: Slot[] = [];

  constructor(options: CensusLookOptions, row: CensusOrigin, day: number) {
    this.#options = options;
    this.#row = row;
    this.#day = day;
    this.#origin = parseOrigin(row.originUrl, options.policy);
    this.#listing = toListing(row.listing);
  }

  /** The /24 or /48 of the origin's first address; its registrable domain before it was resolved. */
  get network(): string {
    const [network = this.#row.domain] = this.#networks;
    return network;
  }

  /** Asks the origin within all limits. Throws LimitReached if a limit forbids it now. */
  async run(isScan: boolean): Promise<CensusLookResult> {
    const { store, turns, onError } = this.#options;
    const { domain } = this.#row;
    // Turns rank callers by their address block. All looks of the census count as one block.
    const blocks = new Set(['census']);
    const request = { origin: this.#origin, blocks, domain, withinMs: MAX_TURN_WAIT_MS };
    const work = (turn: OriginTurn) => {
      const admit: AdmitAddresses = (addresses) => this.#admit(turn, addresses);
      return isScan ? this.#scan(admit) : this.#ask(admit);
    };
    return withLease(store, ['census-domain', domain], LEASE_MS, async () => {
      try {
        return await runLook(turns, { kind: 'census', ...request }, work, {
          whenOriginRefused: () => ({ ...NOT_CHECKED, word: 'down', isSilent: true }),
          whenFault: NOT_CHECKED,
          onFault: (error) => onError('a look of the census failed', error),
        });
      } finally {
        for (const lease of this.#leases) await store.slots.release(lease);
      }
    });
  }

  async #ask(admit: AdmitAddresses): Promise<TurnResult<CensusLookResult>> {
    const { resources } = this.#listing;
    const allowed = this.#readStoredRobots();
    const paths = resources.map(({ path }) => path);
    const robotsPaths = paths.every((path) => path in allowed) ? [] : paths;
    const request = { resources, allowed, robotsPaths };
    const answers = await this.#options.askListed(this.#origin, request, admit);
    const { signs, handshakeMs, ...facts } = answers;
    const word = toDayWord(signs);
    const isSilent = word === 'down' && signs.every(({ status }) => status === null);
    return { result: { ...facts, word, isSilent, scan: null }, handshakeMs };
  }

  async #scan(admit: AdmitAddresses): Promise<TurnResult<CensusLookResult>> {
    const { store, askListed, scanCoordinator, scanner, resolve } = this.#options;
    const origin = this.#origin;
    // A scan would have to wait for other scans, and each retry of the look would request robots.txt again.
    const scans = await store.slots.findLive(['scan', origin.host]);
    if (scans.length > 0 || scanCoordinator.running() > 0) throw new LimitReached();
    const { resources: listed } = this.#listing;
    const robotsPaths = listed.length > 0 ? listed.map(({ path }) => path) : ['/'];
    const request = { resources: [], allowed: {}, robotsPaths };
    const { signs: _, handshakeMs, ...facts } = await askListed(origin, request, admit);
    const allowed = facts.allowed ?? this.#readStoredRobots();
    const isRefused = robotsPaths.every((path) => allowed[path] === false);
    if (isRefused || facts.restMs !== null)
      return { result: { ...NOT_CHECKED, ...facts }, handshakeMs };
    await this.#markBegun();
    const census = { listed, robotsAgent: ROBOTS_AGENT };
    const censusScanner: Pick<Scanner, 'scan'> = {
      scan: (scanned, options) => scanner.scan(scanned, { ...options, census }),
    };
    const deps = { scanCoordinator, resolve, admit };
    const scan = await scanForFree(origin, deps, { scanner: censusScanner });
    const word = scan.dayWord ?? 'not_checked';
    return { result: { ...facts, word, isSilent: !scan.reached, scan }, handshakeMs };
  }

  #readStoredRobots(): AllowedPaths {
    // The census is the only writer of this document, and the store keeps it unchanged.
    return this.#row.robots as AllowedPaths;
  }

  /** Admits the addresses if no other look asks their networks now. Marks the look as begun before its first request. */
  async #admit(turn: OriginTurn, addresses: readonly Address[]): Promise<boolean> {
    const { store } = this.#options;
    if (!(await turn.admit(addresses))) return false;
    // After midnight the request would count for the next day.
    if (utcDay(store.now()) !== this.#day) return false;
    if (this.#networks.size > 0) return true;
    for (const network of new Set(addresses.map(({ address }) => toNetwork(address)))) {
      const lease = await store.slots.lease(['census-network', network], LEASE_MS);
      if (!lease.taken) return false;
      this.#leases.push(lease.slot);
      this.#networks.add(network);
    }
    await this.#markBegun();
    return true;
  }

  /** The mark prevents a second look at the origin on this day after a crash. */
  async #markBegun(): Promise<void> {
    const { census } = this.#options.store;
    await census.change(this.#row.host, { begunDay: this.#day });
  }
}
