/** The service loads this module only if the settings turn the census on. */
import { Counter, Gauge, Registry } from 'prom-client';
import { createCensusStanding, type ImportedRows } from '../../scanner/indexes/census-standing.ts';
import { isAnyReachable } from '../../scanner/indexes/import-listings.ts';
import { DAY_WORDS } from '../../scanner/model/payability.ts';
import { scannerUserAgent } from '../../scanner/probe/client/user-agent.ts';
import { Census } from '../census/census.ts';
import { Wishes } from '../census/choose-origins.ts';
import { CensusImports, listSources } from '../census/import.ts';
import { DAY_MS } from '../census/plan.ts';
import { toListing } from '../census/resources.ts';
import type { CensusConfig } from '../config/census.ts';
import type { Config } from '../config/config.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { addReadGauge } from './money-metrics.ts';
import { createSnapshotCache } from './open-scanning.ts';
import type { OpenScans } from './open-scans.ts';

class CensusMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly looks = new Counter({
    name: 'census_looks_total',
    help: 'Words stored, each for one origin and one day, by word.',
    labelNames: ['word'],
    registers: this.#registers,
  });
  readonly pages = new Counter({
    name: 'census_import_pages_total',
    help: 'Requests for pages of indexes, by index and result.',
    labelNames: ['index', 'result'],
    registers: this.#registers,
  });
  readonly notAsked = new Counter({
    name: 'census_not_asked_total',
    help: 'Looks that left out a resource, by reason. post-undeclared: only an index says that it is sold by POST.',
    labelNames: ['reason'],
    registers: this.#registers,
  });

  constructor() {
    this.notAsked.inc({ reason: 'post-undeclared' }, 0);
    for (const word of DAY_WORDS) this.looks.inc({ word }, 0);
  }

  /** Adds the gauges, which read these parts at each scrape. */
  watch({ rounds }: Pick<Census, 'rounds'>, imports: CensusImports): void {
    addReadGauge(
      this.registry,
      'census_looks_late_seconds',
      'Time by which the most overdue look is late.',
      () => rounds.latenessMs / 1_000,
    );
    addReadGauge(
      this.registry,
      'census_origins',
      'Origins that the census asks.',
      () => imports.originCount,
    );
    new Gauge({
      name: 'census_import_failed_days',
      help: 'Number of consecutive days on which the import of an index failed.',
      labelNames: ['index'],
      registers: this.#registers,
      collect() {
        for (const [index, days] of imports.failedDays) this.set({ index }, days);
      },
    });
  }
}

export type OpenCensus = ReturnType<typeof openCensus>;

/** Interval at which the service looks for a due import. An import runs once a day. */
const IMPORT_CHECK_MS = 60_000;
/** A weekly scan uses an import of at most this age. */
const MAX_IMPORT_AGE_DAYS = 2;
/** The scans of the census read nothing from the chain. */
const NO_NODE = { rpcUrl: null, asset: '', network: '' };

/** Sends no request before `start`. */
export function openCensus(config: Config, settings: CensusConfig, parts: OpenScans) {
  const { store, answers, scanning, scanCoordinator, onError } = parts;
  const { originPolicy: policy, siteUrl } = config;
  const userAgent = scannerUserAgent(`${siteUrl}/about-census`);
  const metrics = new CensusMetrics();
  const stopping = new AbortController();
  const standing = createCensusStanding({
    sources: { ...config.sources, ...NO_NODE, userAgent, answers },
    snapshots: createSnapshotCache(store),
    findBazaarRows: (host) => readBazaarRows(store, host),
    isBusy: () => scanCoordinator.countPaidScans() > 0,
  });
  const wishes = new Wishes({ store, policy, excludePath: settings.excludePath, onError });
  const knownUrls = [...settings.indexes.map(({ url }) => url), siteUrl];
  const census = new Census({
    ...parts,
    policy,
    wishes,
    post: settings.post,
    isNetworkUp: () => isAnyReachable(knownUrls, userAgent),
    onPostUndeclared: () => metrics.notAsked.inc({ reason: 'post-undeclared' }),
    askListed: scanning.askListed,
    scanner: scanning.openCensusScanner(standing),
    onWord: (word) => metrics.looks.inc({ word }),
  });
  const imports = new CensusImports({
    ...parts,
    config: settings,
    policy,
    siteUrl,
    userAgent,
    wishes,
    signal: stopping.signal,
    onRequest: (index, result) => metrics.pages.inc({ index, result }),
  });
  for (const index of listSources(settings)) metrics.pages.inc({ index, result: 'failed' }, 0);
  metrics.watch(census, imports);
  let timer: NodeJS.Timeout | null = null;
  return {
    census,
    imports,
    registry: metrics.registry,
    start() {
      void imports.runDue();
      timer = setInterval(() => void imports.runDue(), IMPORT_CHECK_MS);
      timer.unref();
      census.rounds.start();
    },
    async stop(graceMs = 0) {
      if (timer !== null) clearInterval(timer);
      stopping.abort();
      await census.rounds.stop(graceMs);
    },
  };
}

/** Reads a host's rows of the last import; null if the import is old or incomplete, or the census lacks the host. */
async function readBazaarRows(store: Store, host: string): Promise<ImportedRows | null> {
  const [lastImport] = await store.census.findImports('bazaar');
  const row = await store.census.get(host);
  if (!lastImport?.isComplete || row === null) return null;
  if (lastImport.day <= utcDay(store.now()) - MAX_IMPORT_AGE_DAYS) return null;
  const { sources, bazaar, isBazaarCut } = toListing(row.listing);
  const isListed = sources.bazaar !== undefined && sources.bazaar >= lastImport.day;
  return {
    rows: isListed ? bazaar : [],
    isComplete: !isListed || !isBazaarCut,
    // An import that ends after midnight counts for the day on which it began.
    takenAtMs: Math.min(lastImport.endedAtMs, (lastImport.day + 1) * DAY_MS),
  };
}
