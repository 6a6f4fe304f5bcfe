/** Reads the listings of indexes once a UTC day, and chooses which origins the census asks. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnswerReader } from '../answers/answer-reader.ts';
import { type CensusConfig, readExcluded, readLines } from '../config/census.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import { type ImportOptions, importListings } from '../indexes/import-listings.ts';
import { LimitReached, secondOfDay, withLease } from '../looks/in-turn.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { type Candidate, chooseOrigins } from './choose.ts';
import {
  type CensusSource,
  type FoundOrigin,
  FoundOrigins,
  type ImportFacts,
  mergeListing,
  toListing,
} from './listing.ts';
import { DAY_MS, LISTED_FOR_DAYS, lookTimeMs } from './plan.ts';

export type ListingReaderOptions = {
  readonly config: CensusConfig;
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly answers: AnswerReader;
  readonly onRequest?: (source: CensusSource, result: RequestResult) => void;
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly signal?: AbortSignal;
};

export type RequestResult = Parameters<NonNullable<ImportOptions['onRequest']>>[0];

export type ListingsOfSource = {
  readonly found: FoundOrigins;
  readonly isComplete: boolean;
  /** Reason why the import is incomplete. */
  readonly detail: string | null;
};

export function listSources({ indexes, file }: CensusConfig): readonly CensusSource[] {
  return [...indexes.map(({ name }) => name), ...(file === null ? [] : (['file'] as const))];
}

/** Reads one source to its end, or until it fails. */
export async function readListings(
  source: CensusSource,
  { config, policy, onRequest, ...options }: ListingReaderOptions,
): Promise<ListingsOfSource> {
  const found = new FoundOrigins(policy);
  const index = config.indexes.find(({ name }) => name === source);
  if (index !== undefined) {
    const reportRequest = (result: RequestResult) => onRequest?.(source, result);
    const importOptions = { ...options, base: index.url, onRequest: reportRequest };
    const end = await importListings(index.name, importOptions, (page) => found.add(page));
    return { found, ...end };
  }
  const lines = config.file === null ? [] : await readLines(config.file);
  for (const line of lines) await found.addLine(line);
  return { found, isComplete: true, detail: null };
}

export type CensusImportsOptions = ListingReaderOptions & {
  readonly store: Store;
  /** Part of the hash that spreads the imports of different services over the day. */
  readonly siteUrl: string;
  readonly onError: (message: string, error: unknown) => void;
};

const SECOND_MS = 1_000;
/** An import reads up to a hundred pages, and waits when the index asks for it. */
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
          await withLease(store, ['census-import'], IMPORT_LEASE_MS, () => this.#run(source));
        }
        this.failedDays.set(source, await countFailedDays(store, source));
      } catch (error) {
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

  async #run(source: CensusSource): Promise<void> {
    const { store, onError } = this.#options;
    if (!(await this.#isDue(source))) return;
    const day = utcDay(store.now());
    const { found, isComplete, detail } = await readListings(source, this.#options);
    // This process stops. The next process repeats the import.
    if (this.#options.signal?.aborted === true) return;
    if (!isComplete) onError(`census: the import of ${source} broke off: ${detail}`, null);
    await this.#store(found, { source, day, isComplete });
    await store.census.endImport(source, day, isComplete);
  }

  /** Chooses among the found and the stored origins, and stores the choice. */
  async #store(found: FoundOrigins, facts: ImportFacts): Promise<void> {
    const { store, config } = this.#options;
    const excluded = await readExcluded(config.exclude);
    const candidates = new Map<string, Candidate>();
    const wasChosen = new Map<string, boolean>();
    for await (const rows of store.census.readBatches()) {
      for (const { host, domain, isChosen, lastDay } of rows) {
        wasChosen.set(host, isChosen);
        if (lastDay >= facts.day - LISTED_FOR_DAYS) candidates.set(host, { host, domain });
      }
    }
    for (const [host, { domain }] of found.byHost) candidates.set(host, { host, domain });
    const { hosts } = chooseOrigins([...candidates.values()], { ...config, excluded });
    for (const [host, isChosen] of wasChosen) {
      if (isChosen === hosts.has(host) || found.byHost.has(host)) continue;
      await store.census.change(host, { isChosen: hosts.has(host) });
      await nextTurn();
    }
    for (const [host, origin] of found.byHost) {
      const isChosen = hosts.has(host);
      if (isChosen || wasChosen.has(host)) await this.#storeListing(host, origin, isChosen, facts);
      // A store may be synchronous, and this process has to serve other requests.
      await nextTurn();
    }
    this.originCount = hosts.size;
  }

  async #storeListing(
    host: string,
    found: FoundOrigin,
    isChosen: boolean,
    facts: ImportFacts,
  ): Promise<void> {
    const { census, now } = this.#options.store;
    const row = await census.get(host);
    const listing = mergeListing(toListing(row?.listing ?? null), found, facts);
    const todayMs = lookTimeMs(host, facts.day);
    const lookAtMs = todayMs > now() ? todayMs : lookTimeMs(host, facts.day + 1);
    const days = { firstDay: facts.day, lastDay: facts.day };
    const { domain, origin } = found;
    const originUrl = origin.url;
    await census.saveImported({ host, originUrl, domain, listing, isChosen, lookAtMs, ...days });
  }
}

async function countChosen({ census }: Store): Promise<number> {
  let count = 0;
  for await (const rows of census.readBatches())
    count += rows.filter(({ isChosen }) => isChosen).length;
  return count;
}

async function countFailedDays({ census }: Store, source: CensusSource): Promise<number> {
  const imports = await census.findImports(source);
  const completeAt = imports.findIndex(({ isComplete }) => isComplete);
  return completeAt === -1 ? imports.length : completeAt;
}
