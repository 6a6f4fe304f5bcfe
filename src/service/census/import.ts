/** Reads the listings of indexes once a UTC day, and chooses which origins the census asks. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OriginPolicy } from '../../scanner/guard/origin.ts';
import { type ImportOptions, importListings } from '../../scanner/indexes/import-listings.ts';
import type { AnswerReader } from '../../scanner/third-parties/answer-reader.ts';
import { type CensusConfig, readLines } from '../config/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { withLease } from '../turns/in-turn.ts';
import { LimitReached } from '../turns/origin-turns.ts';
import { secondOfDay } from '../turns/rounds.ts';
import { type Candidate, chooseOrigins, isExcluded, type Wishes } from './choose-origins.ts';
import {
  type FoundOrigin,
  FoundOrigins,
  type FoundOriginsOptions,
  type ImportFacts,
  mergeListing,
  type RankRow,
} from './merge-listing.ts';
import { createKeyedHash, DAY_MS, type KeyedHash, LISTED_FOR_DAYS, lookTimeMs } from './plan.ts';
import { type CensusSource, isSameResource, isSold, toListing } from './resources.ts';

type ListingReaderOptions = {
  readonly config: CensusConfig;
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly answers: AnswerReader;
  readonly onRequest?: (source: CensusSource, result: RequestResult) => void;
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly signal?: AbortSignal;
} & Pick<FoundOriginsOptions, 'keyedHash' | 'readRanks'>;

type RequestResult = Parameters<NonNullable<ImportOptions['onRequest']>>[0];

export function listSources({ indexes, filePath }: CensusConfig): readonly CensusSource[] {
  return [...indexes.map(({ name }) => name), ...(filePath === null ? [] : (['file'] as const))];
}

/** Reads one source to its end, or until it fails. `detail` is the reason why the import is incomplete. */
export async function readListings(
  source: CensusSource,
  { config, policy, onRequest, keyedHash, readRanks, ...options }: ListingReaderOptions,
) {
  const found = new FoundOrigins({ policy, keyedHash, readRanks });
  const index = config.indexes.find(({ name }) => name === source);
  if (index !== undefined) {
    const reportRequest = (result: RequestResult) => onRequest?.(source, result);
    const base = index.url;
    const importOptions = { ...options, base, policy, onRequest: reportRequest };
    const end = await importListings(index.name, importOptions, (page) => found.add(page));
    return { found, ...end };
  }
  const lines = config.filePath === null ? [] : await readLines(config.filePath);
  for (const line of lines) await found.addLine(line);
  return { found, isComplete: true, detail: null };
}

type CensusImportsOptions = Omit<ListingReaderOptions, 'keyedHash' | 'readRanks'> & {
  readonly store: Store;
  readonly wishes: Pick<Wishes, 'readExclusions' | 'storeExclusions'>;
  /** Part of the hash that spreads the imports of different services over the day. */
  readonly siteUrl: string;
  readonly onError: (message: string, error: unknown) => void;
};

const SECOND_MS = 1_000;
/** Longer than an import, which reads up to a hundred pages and waits when the index asks for it. */
const IMPORT_LEASE_MS = 60 * 60 * SECOND_MS;

export class CensusImports {
  readonly #options: CensusImportsOptions;
  #running: Promise<void> | null = null;
  /** Number of chosen origins; 0 before it is known. */
  originCount = 0;
  /** By source: number of consecutive days on which the import failed. */
  readonly failedDays = new Map<CensusSource, number>();

  constructor(options: CensusImportsOptions) {
    this.#options = options;
  }

  /** Runs each import that is due today, one after the other. Never rejects. */
  runDue(): Promise<void> {
    this.#running ??= this.#runAll().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #runAll(): Promise<void> {
    const { config, store, onError } = this.#options;
    for (const source of listSources(config)) {
      try {
        if (this.originCount === 0) this.originCount = await countChosen(store);
        if (await this.#isDue(source)) {
          // All sources share one lease, because each import chooses among the origins that earlier imports stored.
          await withLease(store, ['census-import'], IMPORT_LEASE_MS, () => this.#import(source));
        }
        this.failedDays.set(source, await countFailedDays(store, source));
      } catch (error) {
        // Another instance has the lease, and imports.
        if (error instanceof LimitReached) continue;
        onError(`census: ${source} was not imported`, error);
      }
    }
  }

  async #isDue(source: CensusSource): Promise<boolean> {
    const { store, siteUrl } = this.#options;
    const [last] = await store.census.findImports(source);
    if (last === undefined) return true;
    const nowMs = store.now();
    const dueMs = secondOfDay(`import ${source} ${siteUrl}`) * SECOND_MS;
    return last.day < utcDay(nowMs) && nowMs % DAY_MS >= dueMs;
  }

  async #import(source: CensusSource): Promise<void> {
    const { store, signal, onError } = this.#options;
    // Another instance may have ended the import before this one got the lease.
    if (!(await this.#isDue(source))) return;
    const day = utcDay(store.now());
    const keyedHash = createKeyedHash(await store.census.readSecret());
    const readRanks = (host: string) => this.#readRanks(host);
    const options = { ...this.#options, keyedHash, readRanks };
    const { found, isComplete, detail } = await readListings(source, options);
    // This process stops, so the import may be incomplete. The next process repeats it.
    if (signal?.aborted === true) return;
    if (!isComplete) onError(`census: the import of ${source} broke off: ${detail}`, null);
    await this.#storeChoice(found, { source, day, isComplete }, keyedHash);
    await store.census.endImport(source, day, isComplete);
  }

  /** Ranks what the seller sells or answered with a challenge first, then what is stored, then other resources. */
  async #readRanks(host: string): Promise<RankRow> {
    const row = await this.#options.store.census.get(host);
    const { resources, candidates, sold } = toListing(row?.listing ?? null);
    const storedResources = [...resources, ...candidates];
    return (resource) => {
      const same = storedResources.find((one) => isSameResource(one, resource));
      if (same?.isChallenged || isSold(resource, sold)) return 0;
      return same === undefined ? 2 : 1;
    };
  }

  /** Chooses among the found and the stored origins, and stores the choice. */
  async #storeChoice(found: FoundOrigins, facts: ImportFacts, keyedHash: KeyedHash): Promise<void> {
    const { store, config, wishes, onError } = this.#options;
    await wishes.storeExclusions();
    const { names: excluded, faults } = await wishes.readExclusions();
    for (const fault of faults) onError(`census: CENSUS_EXCLUDE: ${fault}`, null);
    const optedOut = new Set(await store.listing.findOptedOutHosts());
    const candidates = new Map<string, Candidate>();
    /** By stored host: true if an earlier import has chosen it. */
    const storedChoices = new Map<string, boolean>();
    for await (const origins of store.census.readSummaries()) {
      for (const { host, domain, isChosen, lastDay } of origins) {
        storedChoices.set(host, isChosen);
        if (lastDay >= facts.day - LISTED_FOR_DAYS)
          candidates.set(host, { host, domain, isAsked: isChosen });
      }
    }
    for (const [host, { domain }] of found.byHost)
      candidates.set(host, { host, domain, isAsked: storedChoices.get(host) ?? false });
    const limits = { maxOrigins: config.maxOrigins, excluded, optedOut, keyedHash };
    const { hosts } = await chooseOrigins([...candidates.values()], limits);
    // A host whose owner opted out is not asked, but stays chosen. So it is asked again when the owner opts in.
    for (const host of optedOut) {
      const candidate = candidates.get(host);
      const isKept = candidate?.isAsked === true && !isExcluded(candidate, excluded);
      if (isKept) hosts.add(host);
    }
    await this.#storeFlags(storedChoices, { hosts, found });
    for (const [host, origin] of found.byHost) {
      const isChosen = hosts.has(host);
      if (isChosen || storedChoices.has(host))
        await this.#storeListing(origin, isChosen, facts, keyedHash);
      // A store may be synchronous, and this process has to serve other requests.
      await nextTurn();
    }
    this.originCount = hosts.size;
  }

  /** Stores the choice of the hosts that this import did not find. */
  async #storeFlags(
    storedChoices: ReadonlyMap<string, boolean>,
    { hosts, found }: { readonly hosts: ReadonlySet<string>; readonly found: FoundOrigins },
  ): Promise<void> {
    for (const [host, isChosen] of storedChoices) {
      if (isChosen === hosts.has(host) || found.byHost.has(host)) continue;
      await this.#options.store.census.change(host, { isChosen: hosts.has(host) });
      await nextTurn();
    }
  }

  async #storeListing(
    found: FoundOrigin,
    isChosen: boolean,
    facts: ImportFacts,
    keyedHash: KeyedHash,
  ): Promise<void> {
    const { store, config } = this.#options;
    const { census, now } = store;
    const { domain, origin } = found;
    const { host, url: originUrl } = origin;
    const row = await census.get(host);
    const listing = mergeListing(toListing(row?.listing ?? null), found, facts, config.post);
    const todayMs = lookTimeMs(keyedHash, host, facts.day);
    const lookAtMs = todayMs > now() ? todayMs : lookTimeMs(keyedHash, host, facts.day + 1);
    const days = { firstDay: facts.day, lastDay: facts.day };
    await census.saveImported({ host, originUrl, domain, listing, isChosen, lookAtMs, ...days });
  }
}

async function countChosen({ census }: Store): Promise<number> {
  let count = 0;
  for await (const origins of census.readSummaries())
    count += origins.filter(({ isChosen }) => isChosen).length;
  return count;
}

/** Counts the newest imports of a source that failed, one after the other. */
async function countFailedDays({ census }: Store, source: CensusSource): Promise<number> {
  const imports = await census.findImports(source);
  const newestComplete = imports.findIndex(({ isComplete }) => isComplete);
  return newestComplete === -1 ? imports.length : newestComplete;
}
