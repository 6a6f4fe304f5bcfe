import type { Address } from '../../scanner/guard/name-servers.ts';
import { type Origin, type OriginPolicy, parseOrigin } from '../../scanner/guard/origin.ts';
import type { DayWord } from '../../scanner/model/payability.ts';
import type { AllowedPaths, Scanner } from '../../scanner/scan/scanner.ts';
import { Saturated } from '../errors/errors.ts';
import { toWantedScope } from '../scans/await-scan.ts';
import { toDayWord } from '../scans/day-word.ts';
import type { FinishedScan } from '../scans/finished-scan.ts';
import type { ScanCoordinator } from '../scans/scan-coordinator.ts';
import type { CensusOrigin } from '../store/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { HostLeft, runLook, scanForFree, unlessLimited } from '../turns/in-turn.ts';
import {
  LimitReached,
  type OriginTurns,
  type TurnClient,
  type TurnRequest,
} from '../turns/origin-turns.ts';
import {
  type AskListed,
  type AskListedRequest,
  type AskListedResult,
  ROBOTS_AGENT,
} from './ask-listed.ts';
import type { Wishes } from './choose-origins.ts';
import { LISTED_FOR_DAYS } from './plan.ts';
import { LookLeases, toNetworks } from './queue.ts';
import {
  type CensusListing,
  isSold,
  type ListedSign,
  listChallengedResources,
  mayAskResource,
  type PostMode,
  toListing,
} from './resources.ts';

export type CensusLookOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly post: PostMode;
  readonly wishes: Pick<Wishes, 'mayAsk'>;
  readonly scanCoordinator: Pick<ScanCoordinator, 'run' | 'countPaidScans' | 'publish'>;
  /** Scans with the User-Agent of the census, and keeps its rate limit for indexes. */
  readonly scanner: Pick<Scanner, 'scan'>;
  readonly askListed: AskListed;
  readonly turns: Pick<OriginTurns, 'ask'>;
  readonly onError: (message: string, error: unknown) => void;
  /** Called for each look at which a resource was not asked, because only an index says that it is sold by POST. */
  readonly onPostUndeclared?: (() => void) | undefined;
};

export type CensusLookResult = {
  readonly word: DayWord;
  readonly signs: readonly ListedSign[];
  /** True if the origin gave no answer at all. The fault may be ours. */
  readonly isSilent: boolean;
  /** Null if the look was not a scan. */
  readonly scan: FinishedScan | null;
  readonly allowed: AllowedPaths | null;
  /** The longest `Retry-After` of the answers, as `AskListedResult` has it. */
  readonly restMs: number | null;
};

const MAX_TURN_WAIT_MS = 5_000;
/** A scan ends at most this long after the owner of its host left, or somebody paid for a scan of the host. */
const WISH_INTERVAL_MS = 1_000;
const NOT_CHECKED: CensusLookResult = {
  word: 'not_checked',
  signs: [],
  isSilent: false,
  scan: null,
  allowed: null,
  restMs: null,
};

/** The UTC day for which the word of a look counts. */
export type LookDay = {
  readonly day: number;
  /** True if a rest of ours moved the look over midnight. `day` is then the day before. */
  readonly isMovedByRest: boolean;
};

/** One look at one origin. The caller holds the lease of its host. */
export class CensusLook {
  readonly #options: CensusLookOptions;
  readonly #row: CensusOrigin;
  readonly #lookDay: LookDay;
  readonly #origin: Origin;
  readonly #listing: CensusListing;
  readonly leases: LookLeases;

  constructor(options: CensusLookOptions, row: CensusOrigin, lookDay: LookDay) {
    this.#options = options;
    this.#row = row;
    this.#lookDay = lookDay;
    this.#origin = parseOrigin(row.originUrl, options.policy);
    this.#listing = toListing(row.listing);
    this.leases = new LookLeases(options.store, row.domain);
  }

  /** Asks the origin within all limits. Throws LimitReached if a limit forbids it now, and HostLeft. */
  async run(isScan: boolean): Promise<CensusLookResult> {
    const { turns, onError } = this.#options;
    const request: TurnRequest = {
      kind: 'census',
      origin: this.#origin,
      // Turns rank callers by their address block. All looks of the census count as one block.
      blocks: new Set(['census']),
      domain: this.#row.domain,
      withinMs: MAX_TURN_WAIT_MS,
      beforeConnect: (addresses) => this.#beforeConnect(addresses),
    };
    const work = (client: TurnClient) =>
      isScan ? this.#scan(client) : this.#ask(this.#listing.resources, client);
    try {
      await this.leases.takeDomain();
      return await runLook(turns, request, work, {
        whenOriginRefused: () => ({ ...NOT_CHECKED, word: 'down', isSilent: true }),
        whenFault: NOT_CHECKED,
        onFault: (error) => onError('a look of the census failed', error),
      });
    } finally {
      await this.leases.release();
    }
  }

  async #ask(listed: CensusListing['resources'], client: TurnClient): Promise<CensusLookResult> {
    const { post, onPostUndeclared } = this.#options;
    const { sold } = this.#listing;
    const resources = listed.filter((resource) => mayAskResource(resource, sold, post));
    if (resources.length < listed.length) onPostUndeclared?.();
    if (resources.length === 0) return NOT_CHECKED;
    const allowed = this.#readStoredRobots();
    const isStored = allowed !== null && resources.every(({ path }) => path in allowed);
    const robotsPaths = isStored ? [] : this.#listPaths();
    const request = { resources, allowed, robotsPaths };
    const { signs, isRobotsSilent, ...facts } = await this.#storeNetworkAndAsk(request, client);
    const word = toDayWord(signs);
    // A 5xx also counts as `down`. A redirect that buyers cannot follow has no status, but is an answer.
    const hasNoAnswer = word === 'down' && signs.every(({ status }) => status === null);
    const isSilent = signs.length === 0 ? isRobotsSilent : hasNoAnswer;
    return { ...facts, signs, word, isSilent, scan: null };
  }

  /** Stores the origin's network, so that the queue passes over the host while another look asks this network. */
  async #storeNetworkAndAsk(
    request: AskListedRequest,
    client: TurnClient,
  ): Promise<AskListedResult> {
    const { askListed, store } = this.#options;
    const resolved = await client.resolveOrigin(this.#origin);
    if (resolved.kind === 'addresses') {
      const [network = null] = toNetworks(resolved.addresses);
      if (network !== this.#row.network) await store.census.change(this.#row.host, { network });
    }
    return askListed(this.#origin, request, client);
  }

  async #scan(client: TurnClient): Promise<CensusLookResult> {
    const { store, scanCoordinator } = this.#options;
    const origin = this.#origin;
    // A scan would have to wait for these scans, and each retry of the look would request robots.txt again.
    const scans = await store.leases.findLive(['scan', origin.host]);
    if (scans.length > 0 || scanCoordinator.countPaidScans() > 0) throw new LimitReached();
    const robotsPaths = this.#listPaths();
    const request = { resources: [], allowed: null, robotsPaths };
    const { signs, isRobotsSilent, ...facts } = await this.#storeNetworkAndAsk(request, client);
    const allowed = facts.allowed ?? this.#readStoredRobots();
    const isRefused = allowed === null || robotsPaths.every((path) => allowed[path] === false);
    // There is a sign only if the origin has no address.
    if (isRefused || facts.restMs !== null || signs.length > 0) {
      const word = toDayWord(signs);
      const isSilent = isRobotsSilent || word === 'down';
      return { ...NOT_CHECKED, ...facts, word, isSilent };
    }
    const scan = await this.#runScan(client, allowed);
    const scanFacts = { ...facts, signs: [], isSilent: !scan.reached, scan };
    const { dayWord: word, sold = [] } = scan;
    const sellsNothing = listChallengedResources(scan).length === 0 && sold.length === 0;
    const undeclared = this.#listing.resources.filter(
      (resource) => sellsNothing || (resource.method === 'POST' && !isSold(resource, sold)),
    );
    if (word === 'payable' || !scan.reached || undeclared.length === 0)
      return { ...scanFacts, word };
    // A scan judges what the seller declares. What only indexes list counts if the seller declares nothing, or if it
    // is payable.
    const answer = (await unlessLimited(this.#ask(undeclared, client))) ?? NOT_CHECKED;
    const isCounted = answer.word === 'payable' || sellsNothing;
    return { ...scanFacts, signs: answer.signs, word: isCounted ? answer.word : word };
  }

  /**
   * Rejects with HostLeft if the owner leaves during the scan, with Saturated if somebody pays for a scan of the host,
   * and with LimitReached at midnight.
   */
  async #runScan(client: TurnClient, lastAllowed: AllowedPaths): Promise<FinishedScan> {
    const { scanCoordinator, scanner } = this.#options;
    const ending = new AbortController();
    const beforeRequest = async () => {
      try {
        // A scan that takes longer than planned is repeated on the next day.
        if (utcDay(this.#options.store.now()) !== this.#lookDay.day) throw new LimitReached();
        await this.#requireWish();
        await this.#yieldToPayers();
      } catch (error) {
        ending.abort(error);
      }
      ending.signal.throwIfAborted();
    };
    // `beforeRequest` has aborted the scan when it rejects, so its error is not needed again.
    const endEarly = () => void beforeRequest().catch(() => undefined);
    const timer = setInterval(endEarly, WISH_INTERVAL_MS).unref();
    const { candidates, resources } = this.#listing;
    const listed = [...resources, ...candidates];
    const census = { listed, robotsAgent: ROBOTS_AGENT, lastAllowed, beforeRequest };
    const censusScanner: Pick<Scanner, 'scan'> = {
      scan(scanned, { signal, ...options } = {}) {
        const signals = [ending.signal, ...(signal ? [signal] : [])];
        return scanner.scan(scanned, { ...options, signal: AbortSignal.any(signals), census });
      },
    };
    try {
      return await scanForFree(this.#origin, client, scanCoordinator, { scanner: censusScanner });
    } finally {
      clearInterval(timer);
    }
  }

  async #yieldToPayers(): Promise<void> {
    const { leases } = this.#options.store;
    const waitingPayers = await leases.findLive(toWantedScope(this.#origin.host));
    if (waitingPayers.length > 0) throw new Saturated();
  }

  async #requireWish(): Promise<void> {
    if (!(await this.#options.wishes.mayAsk(this.#row.host))) throw new HostLeft();
  }

  #listPaths(): readonly string[] {
    const { resources, candidates } = this.#listing;
    const paths = [...resources, ...candidates].map(({ path }) => path);
    return paths.length > 0 ? [...new Set(paths)] : ['/'];
  }

  /** Null if robots.txt was not read in the last 30 days. */
  #readStoredRobots(): AllowedPaths | null {
    const { robots, robotsDay } = this.#row;
    if (robotsDay === null || robotsDay < this.#lookDay.day - LISTED_FOR_DAYS) return null;
    // The census is the only writer of this document, and the store keeps it unchanged.
    return robots as AllowedPaths;
  }

  /** Marks the look as begun. Throws HostLeft. Throws LimitReached after midnight, or if another look asks its network. */
  async #beforeConnect(addresses: readonly Address[]): Promise<void> {
    const { store } = this.#options;
    const { day, isMovedByRest } = this.#lookDay;
    // After midnight the request would count for the next day.
    const isToday = utcDay(store.now()) === day;
    if (!isToday && !isMovedByRest) throw new LimitReached();
    if (!this.leases.hasNetworks) {
      await this.leases.takeNetworks(addresses);
      // The mark prevents a second look at the origin on this day after a crash.
      await store.census.change(this.#row.host, { begunDay: day });
    }
    await this.#requireWish();
  }
}
