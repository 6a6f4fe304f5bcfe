import type { Address } from '../../scanner/guard/name-servers.ts';
import { type Origin, type OriginPolicy, parseOrigin } from '../../scanner/guard/origin.ts';
import type { DayWord } from '../../scanner/model/payability.ts';
import type { Scanner } from '../../scanner/scan/scanner.ts';
import { Saturated } from '../errors/errors.ts';
import { toDayWord } from '../scans/day-word.ts';
import type { FinishedScan } from '../scans/finished-scan.ts';
import { toWantedScope } from '../scans/in-flight-scans.ts';
import type { ScanCoordinator } from '../scans/scan-coordinator.ts';
import type { CensusOrigin } from '../store/census.ts';
import type { Lease } from '../store/leases.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { toNetwork } from '../turns/client-key.ts';
import { HostLeft, runLook, scanForFree, unlessLimited } from '../turns/in-turn.ts';
import {
  LimitReached,
  type OriginTurns,
  type TurnClient,
  type TurnRequest,
} from '../turns/origin-turns.ts';
import {
  type AllowedPaths,
  type AskListed,
  type AskListedRequest,
  type AskListedResult,
  ROBOTS_AGENT,
} from './ask-listed.ts';
import { LISTED_FOR_DAYS } from './plan.ts';
import { toDomainTarget, toNetworkTarget } from './queue.ts';
import {
  type CensusListing,
  findChallenged,
  isSold,
  type ListedSign,
  mayAskResource,
  type PostMode,
  toListing,
} from './resources.ts';
import type { Wishes } from './wishes.ts';

export type CensusLookOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly post: PostMode;
  readonly wishes: Pick<Wishes, 'mayAsk'>;
  readonly scanCoordinator: Pick<ScanCoordinator, 'run' | 'running' | 'publish'>;
  /** Scans with the User-Agent of the census, and keeps its rate limit for indexes. */
  readonly scanner: Pick<Scanner, 'scan'>;
  readonly askListed: AskListed;
  readonly turns: Pick<OriginTurns, 'ask'>;
  readonly onError: (message: string, error: unknown) => void;
  /** Called for each look at which a resource was not asked, because only an index says that it is sold by POST. */
  readonly onPostUndeclared?: (() => void) | undefined;
};

/** The result of a look or weekly scan. */
export type CensusLookResult = {
  readonly word: DayWord;
  /** The answers of the resources that a look asked. */
  readonly signs: readonly ListedSign[];
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
/** An owner who leaves during a scan waits at most this long for its end. */
const WISH_INTERVAL_MS = 1_000;
/** All leases of domains and networks have this group. */
export const LOOK_LEASES = 'census-looks';
const NOT_CHECKED: CensusLookResult = {
  word: 'not_checked',
  signs: [],
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
  readonly #isMadeUpFor: boolean;
  readonly #origin: Origin;
  readonly #listing: CensusListing;
  readonly #networks = new Set<string>();
  readonly #leases: Lease[] = [];

  /** @param isMadeUpFor true if a rest of ours moved the look over midnight. Its word counts for the day before */
  constructor(
    options: CensusLookOptions,
    row: CensusOrigin,
    day: { readonly day: number; readonly isMadeUpFor: boolean },
  ) {
    this.#options = options;
    this.#row = row;
    this.#day = day.day;
    this.#isMadeUpFor = day.isMadeUpFor;
    this.#origin = parseOrigin(row.originUrl, options.policy);
    this.#listing = toListing(row.listing);
  }

  /** The /24 or /48 of the origin's first address; its registrable domain before it was resolved. */
  get network(): string {
    const [network = this.#row.domain] = this.#networks;
    return network;
  }

  get targets(): readonly string[] {
    return [toDomainTarget(this.#row.domain), ...[...this.#networks].map(toNetworkTarget)];
  }

  /** Asks the origin within all limits. Throws LimitReached if a limit forbids it now, and HostLeft. */
  async run(isScan: boolean): Promise<CensusLookResult> {
    const { turns, onError } = this.#options;
    const { domain } = this.#row;
    // Turns rank callers by their address block. All looks of the census count as one block.
    const blocks = new Set(['census']);
    const request: TurnRequest = {
      ...{ kind: 'census', origin: this.#origin, blocks, domain, withinMs: MAX_TURN_WAIT_MS },
      beforeConnect: (addresses) => this.#beforeConnect(addresses),
    };
    const work = (client: TurnClient) =>
      isScan ? this.#scan(client) : this.#ask(this.#listing.resources, client);
    try {
      await this.#lease(toDomainTarget(domain));
      return await runLook(turns, request, work, {
        whenOriginRefused: () => ({ ...NOT_CHECKED, word: 'down', isSilent: true }),
        whenFault: NOT_CHECKED,
        onFault: (error) => onError('a look of the census failed', error),
      });
    } finally {
      for (const lease of this.#leases) await this.#options.store.leases.release(lease);
    }
  }

  async #ask(listed: CensusListing['resources'], client: TurnClient): Promise<CensusLookResult> {
    const { post, onPostUndeclared } = this.#options;
    const { sold } = this.#listing;
    const resources = listed.filter((resource) => mayAskResource(resource, sold, post));
    if (resources.length < listed.length) onPostUndeclared?.();
    if (resources.length === 0) return NOT_CHECKED;
    const allowed = this.#readStoredRobots();
    const isKnown = allowed !== null && resources.every(({ path }) => path in allowed);
    const robotsPaths = isKnown ? [] : this.#listPaths();
    const request = { resources, allowed, robotsPaths };
    const { signs, isRobotsSilent, ...facts } = await this.#askListed(request, client);
    const word = toDayWord(signs);
    const areSilent = word === 'down' && signs.every(({ status }) => status === null);
    const isSilent = areSilent || (isRobotsSilent && signs.length === 0);
    return { ...facts, signs, word, isSilent, scan: null };
  }

  async #askListed(request: AskListedRequest, client: TurnClient): Promise<AskListedResult> {
    const { askListed, store } = this.#options;
    const resolved = await client.resolveOrigin(this.#origin);
    if (resolved.kind === 'addresses') {
      // The look may not get its turn. It is then passed over while another look at its network runs.
      const [network = null] = toNetworks(resolved.addresses);
      if (network !== this.#row.network) await store.census.change(this.#row.host, { network });
    }
    return askListed(this.#origin, request, client);
  }

  async #scan(client: TurnClient): Promise<CensusLookResult> {
    const { store, scanCoordinator } = this.#options;
    const origin = this.#origin;
    // A scan would have to wait for other scans, and each retry of the look would request robots.txt again.
    const scans = await store.leases.findLive(['scan', origin.host]);
    if (scans.length > 0 || scanCoordinator.running() > 0) throw new LimitReached();
    const robotsPaths = this.#listPaths();
    const request = { resources: [], allowed: null, robotsPaths };
    const { signs, isRobotsSilent, ...facts } = await this.#askListed(request, client);
    const allowed = facts.allowed ?? this.#readStoredRobots();
    const isRefused = allowed === null || robotsPaths.every((path) => allowed[path] === false);
    if (isRefused || facts.restMs !== null || signs.length > 0) {
      const word = toDayWord(signs);
      const isSilent = isRobotsSilent || word === 'down';
      return { ...NOT_CHECKED, ...facts, word, isSilent };
    }
    await this.#markBegun();
    const scan = await this.#runScan(client);
    const scanFacts = { ...facts, signs: [], isSilent: !scan.reached, scan };
    const word = scan.dayWord;
    const sellsNothing = findChallenged(scan).length === 0 && (scan.sold ?? []).length === 0;
    const unseen = this.#listing.resources.filter(
      (resource) =>
        sellsNothing || (resource.method === 'POST' && !isSold(resource, scan.sold ?? [])),
    );
    if (word === 'payable' || !scan.reached || unseen.length === 0) return { ...scanFacts, word };
    // A scan judges what the seller declares. What only indexes list decides the word if nothing is declared.
    const answer = (await unlessLimited(this.#ask(unseen, client))) ?? NOT_CHECKED;
    const isCounted = answer.word === 'payable' || sellsNothing;
    return { ...scanFacts, signs: answer.signs, word: isCounted ? answer.word : word };
  }

  /** Rejects with HostLeft if the owner leaves during the scan, with Saturated if somebody pays for one, and at midnight. */
  async #runScan(client: TurnClient): Promise<FinishedScan> {
    const { scanCoordinator, scanner } = this.#options;
    const ending = new AbortController();
    const beforeRequest = async () => {
      try {
        // A scan that takes longer than planned is repeated on the next day.
        if (utcDay(this.#options.store.now()) !== this.#day) throw new LimitReached();
        await this.#requireWish();
        await this.#yieldToPayers();
      } catch (error) {
        ending.abort(error);
      }
      ending.signal.throwIfAborted();
    };
    const endIfLeft = () => void beforeRequest().catch(() => undefined);
    const timer = setInterval(endIfLeft, WISH_INTERVAL_MS).unref();
    const { candidates, resources } = this.#listing;
    const listed = [...resources, ...candidates];
    const census = { listed, robotsAgent: ROBOTS_AGENT, beforeRequest };
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
    if (robotsDay === null || robotsDay < this.#day - LISTED_FOR_DAYS) return null;
    // The census is the only writer of this document, and the store keeps it unchanged.
    return robots as AllowedPaths;
  }

  /**
   * Throws LimitReached if another look asks one of these networks now, and HostLeft. Marks the look as begun before its
   * first request.
   */
  async #beforeConnect(addresses: readonly Address[]): Promise<void> {
    // After midnight the request would count for the next day.
    const isToday = utcDay(this.#options.store.now()) === this.#day;
    if (!isToday && !this.#isMadeUpFor) throw new LimitReached();
    if (this.#networks.size === 0) {
      for (const network of toNetworks(addresses)) {
        await this.#lease(toNetworkTarget(network));
        this.#networks.add(network);
      }
      await this.#markBegun();
    }
    await this.#requireWish();
  }

  /** Leases a domain or network. All instances see the leases by their group. Throws LimitReached. */
  async #lease(target: string): Promise<void> {
    const outcome = await this.#options.store.leases.take({
      ...{ scope: [LOOK_LEASES, target], group: LOOK_LEASES, data: target },
      ...{ limit: 1, lifetimeMs: LEASE_MS, endsWithOwner: true },
    });
    if (!outcome.taken) throw new LimitReached();
    this.#leases.push(outcome.lease);
  }

  /** The mark prevents a second look at the origin on this day after a crash. */
  async #markBegun(): Promise<void> {
    const { census } = this.#options.store;
    await census.change(this.#row.host, { begunDay: this.#day });
  }
}

function toNetworks(addresses: readonly Address[]): readonly string[] {
  return [...new Set(addresses.map(({ address }) => toNetwork(address)))];
}
