import { type Origin, type OriginPolicy, parseOrigin } from '../guard/origin.ts';
import type { Address } from '../guard/resolve.ts';
import { toNetwork } from '../limits/client-key.ts';
import type { AdmitAddresses, OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import {
  lookInTurn,
  NoPlace,
  type ResolveOrigin,
  scanForFree,
  type TurnResult,
  underLease,
} from '../looks/in-turn.ts';
import type { DayWord } from '../model/availability.ts';
import { dayWord } from '../scan/day-word.ts';
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
  /** Scans under the census's own name, and asks the indexes at its rate. */
  readonly scanner: Pick<Scanner, 'scan'>;
  readonly askListed: AskListed;
  readonly resolve: ResolveOrigin;
  readonly turns: Pick<OriginTurns, 'enter'>;
  readonly onError: (message: string, error: unknown) => void;
};

/** The result of the requests of a day. */
export type CensusSight = {
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
const OURS: CensusSight = {
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

  /** A resolved network, or the registrable domain. */
  get place(): string {
    const [network = this.#row.domain] = this.#networks;
    return network;
  }

  /** Asks the origin within all limits. Throws NoPlace if one of them leaves no room now. */
  async run(isScan: boolean): Promise<CensusSight> {
    const { store, turns, onError } = this.#options;
    const { domain } = this.#row;
    const blocks = new Set(['census']);
    const place = { origin: this.#origin, blocks, domain, withinMs: TURN_WITHIN_MS };
    const work = (turn: OriginTurn) => {
      const admit: AdmitAddresses = (addresses) => this.#admit(turn, addresses);
      return isScan ? this.#scan(admit) : this.#ask(admit);
    };
    return underLease(store, ['census-domain', domain], LEASE_MS, async () => {
      try {
        return await lookInTurn(turns, { kind: 'census', ...place }, work, {
          refused: () => ({ ...OURS, word: 'down', isSilent: true }),
          fault: OURS,
          onFault: (error) => onError('a look of the census failed', error),
        });
      } finally {
        for (const lease of this.#leases) await store.slots.release(lease);
      }
    });
  }

  async #ask(admit: AdmitAddresses): Promise<TurnResult<CensusSight>> {
    const { resources } = this.#listing;
    const allowed = this.#knownRobots();
    const paths = resources.map(({ path }) => path);
    const robotsFor = paths.every((path) => path in allowed) ? [] : paths;
    const question = { resources, allowed, robotsFor };
    const answer = await this.#options.askListed(this.#origin, question, admit);
    const { signs, handshakeMs, ...facts } = answer;
    const word = dayWord(signs);
    const isSilent = word === 'down' && signs.every(({ status }) => status === null);
    return { result: { ...facts, word, isSilent, scan: null }, handshakeMs };
  }

  async #scan(admit: AdmitAddresses): Promise<TurnResult<CensusSight>> {
    const { store, askListed, scanCoordinator, scanner, resolve } = this.#options;
    const origin = this.#origin;
    // A scan of any instance would have to end first, and robots.txt would be read again and again meanwhile.
    const scans = await store.slots.live(['scan', origin.host]);
    if (scans.length > 0 || scanCoordinator.running() > 0) throw new NoPlace();
    const { resources: listed } = this.#listing;
    const robotsFor = listed.length > 0 ? listed.map(({ path }) => path) : ['/'];
    const question = { resources: [], allowed: {}, robotsFor };
    const { signs: _, handshakeMs, ...facts } = await askListed(origin, question, admit);
    const allowed = facts.allowed ?? this.#knownRobots();
    const isRefused = robotsFor.every((path) => allowed[path] === false);
    if (isRefused || facts.restMs !== null) return { result: { ...OURS, ...facts }, handshakeMs };
    await this.#begin();
    const census = { listed, robotsAgent: ROBOTS_AGENT };
    const asCensus: Pick<Scanner, 'scan'> = {
      scan: (one, options) => scanner.scan(one, { ...options, census }),
    };
    const deps = { scanCoordinator, resolve, admit };
    const scan = await scanForFree(origin, deps, { scanner: asCensus });
    const word = scan.dayWord ?? 'not_checked';
    return { result: { ...facts, word, isSilent: !scan.reached, scan }, handshakeMs };
  }

  #knownRobots(): AllowedPaths {
    // The census is the only writer of this document, and the store keeps it unchanged.
    return this.#row.robots as AllowedPaths;
  }

  /** Admits the addresses if nobody asks their networks now; the first request is noted before it is sent. */
  async #admit(turn: OriginTurn, addresses: readonly Address[]): Promise<boolean> {
    const { store } = this.#options;
    if (!(await turn.toward(addresses))) return false;
    // A request after midnight would be one of the next day.
    if (utcDay(store.now()) !== this.#day) return false;
    if (this.#networks.size > 0) return true;
    for (const network of new Set(addresses.map(({ address }) => toNetwork(address)))) {
      const lease = await store.slots.lease(['census-network', network], LEASE_MS);
      if (!lease.taken) return false;
      this.#leases.push(lease.slot);
      this.#networks.add(network);
    }
    await this.#begin();
    return true;
  }

  /** After a crash the day has no second look. */
  async #begin(): Promise<void> {
    const { census } = this.#options.store;
    await census.change(this.#row.host, { begunDay: this.#day });
  }
}
