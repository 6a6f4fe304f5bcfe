/**
 * `npm run census -- --dry-run` reads the indexes and prints the work that a day of the census would do.
 * `npm run census -- --once --limit N` does the work of one day for N origins, and ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { inspect, parseArgs } from 'node:util';
import PQueue from 'p-queue';
import { loadEnvFile } from '../../scanner/environment/env-file.ts';
import { OperatorError } from '../../scanner/model/redact.ts';
import { scannerUserAgent } from '../../scanner/probe/client/user-agent.ts';
import { createAnswerReader } from '../../scanner/third-parties/answer-reader.ts';
import { MAX_LOOKS, MAX_LOOKS_PER_SECOND } from '../census/census.ts';
import { chooseOrigins } from '../census/choose-origins.ts';
import { listSources, readListings } from '../census/import.ts';
import { createKeyedHash, SECOND_MS } from '../census/plan.ts';
import { MAX_ASKED_RESOURCES } from '../census/resources.ts';
import { type CensusConfig, readExcludeFile } from '../config/census.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { LimitReached } from '../turns/origin-turns.ts';
import { createLogger } from './logger.ts';
import { type OpenCensus, openCensus } from './open-census.ts';
import { openScans } from './open-scans.ts';

const USAGE =
  'npm run census -- --dry-run [--json] prints what a day would do; -- --once --limit N does the work of one day for N origins.';
const FAILED_EXIT_CODE = 2;
/** Requests that a scan sends to a typical seller. */
const REQUESTS_PER_SCAN = 22;
const WEEK_DAYS = 7;
/** There is one attempt a second. After the last attempt, the host is left to the running service. */
const MAX_LOOK_ATTEMPTS = 180;

/** The arguments or settings of the command are wrong. */
class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}

async function runCensusCommand(args: readonly string[]): Promise<void> {
  try {
    const { limit, isJson } = readArguments(args);
    loadEnvFile();
    const config = loadConfig(process.env);
    const { census } = config;
    if (census === null) {
      throw new UsageError('No index to ask: set CENSUS=bazaar,x402scan, or CENSUS_FILE.');
    }
    if (limit === null) await runDry(config, census, isJson);
    else await runOnce(config, census, limit);
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : inspect(error));
    process.exitCode = FAILED_EXIT_CODE;
  }
}

/** `limit` is null for a dry run. */
function readArguments(args: readonly string[]): { limit: number | null; isJson: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  const options = { 'dry-run': flag, once: flag, json: flag, limit: { type: 'string' } } as const;
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
  try {
    values = parseArgs({ args: args.filter((arg) => arg !== '--'), options }).values;
  } catch {
    throw new UsageError(USAGE);
  }
  const { 'dry-run': isDry, once, json: isJson = false, limit } = values;
  if (isDry === once || (isDry && limit !== undefined) || (once && isJson)) {
    throw new UsageError(USAGE);
  }
  if (isDry) return { limit: null, isJson };
  if (limit === undefined || !/^[1-9]\d{0,5}$/.test(limit)) {
    throw new UsageError('--once needs --limit N, the number of origins: from 1 to 999999.');
  }
  return { limit: Number(limit), isJson };
}

/** Sends requests only to the indexes, and prints the work of one day. */
async function runDry(config: Config, census: CensusConfig, isJson: boolean): Promise<void> {
  const answers = createAnswerReader();
  const userAgent = scannerUserAgent(`${config.siteUrl}/about-census`);
  const options = { config: census, policy: config.originPolicy, userAgent, answers };
  const listings: Listings[] = [];
  try {
    for (const source of listSources(census)) {
      let pages = 0;
      const onRequest = () => {
        pages += 1;
        showProgress(`${source}: ${pages} pages`);
      };
      listings.push({ source, ...(await readListings(source, { ...options, onRequest })) });
    }
  } finally {
    showProgress('');
    await answers.close();
  }
  const { names } = await readExcludeFile(census.excludePath, config.originPolicy);
  const plan = await planDay(listings, census, names);
  console.log(isJson ? JSON.stringify(plan, null, 2) : toText(plan));
  if (plan.sources.every(({ origins, detail }) => origins === 0 && detail !== null)) {
    throw new UsageError('No index answered: see above.');
  }
}

type DayPlan = Awaited<ReturnType<typeof planDay>>;

type Listings = Awaited<ReturnType<typeof readListings>> & { readonly source: string };

/** Counts the requests of one day, from the listings of all sources. */
async function planDay(
  listings: readonly Listings[],
  { maxOrigins, post }: CensusConfig,
  excluded: ReadonlySet<string>,
) {
  const origins = new Map<string, { readonly domain: string; readonly resources: Set<string> }>();
  for (const [host, { domain, resources }] of listings.flatMap(({ found }) => [...found.byHost])) {
    const origin = origins.get(host) ?? { domain, resources: new Set<string>() };
    for (const key of resources.keys()) origin.resources.add(key);
    origins.set(host, origin);
  }
  const refusedListings = listings.reduce((sum, { found }) => sum + found.refusedCount, 0);
  // The secret that decides which origins fit into CENSUS_MAX is in the store, which a dry run does not open.
  const keyedHash = createKeyedHash('');
  const candidates = [...origins].map(([host, { domain }]) => ({ host, domain }));
  const limits = { maxOrigins, excluded, keyedHash };
  const { hosts, leftOut } = await chooseOrigins(candidates, limits);
  let resourceCount = 0;
  /** Origins that are listed only by POST, which no look may send yet. */
  let postUndeclared = 0;
  for (const host of hosts) {
    const keys = [...(origins.get(host)?.resources ?? [])];
    const permittedKeys = keys.filter((key) => post === 'listed' || key.startsWith('GET '));
    resourceCount += Math.min(permittedKeys.length, MAX_ASKED_RESOURCES);
    if (permittedKeys.length === 0 && keys.length > 0) postUndeclared += 1;
  }
  const scans = hosts.size / WEEK_DAYS;
  // Once a week, a scan and one more request for robots.txt take the place of a look.
  const requests = (resourceCount * (WEEK_DAYS - 1)) / WEEK_DAYS + scans * (REQUESTS_PER_SCAN + 1);
  return {
    sources: listings.map(({ source, found, detail }) => ({
      source,
      origins: found.byHost.size,
      detail,
    })),
    origins: candidates.length,
    leftOut: { refusedListings, ...leftOut },
    asked: {
      origins: hosts.size,
      resources: resourceCount,
      postUndeclared,
      scansADay: Math.round(scans),
      requestsADay: Math.round(requests),
    },
  };
}

function toText({ sources, origins, leftOut, asked }: DayPlan): string {
  const lines = [
    ...sources.map(({ source, origins: listed, detail }) => {
      const end = detail === null ? '' : ` (broke off: ${detail})`;
      return `${source} lists ${listed} origins${end}`;
    }),
    `${origins} different origins`,
    `left out: ${leftOut.excluded} by CENSUS_EXCLUDE, ${leftOut.domain} of domains with more than 20 origins, ${leftOut.max} beyond CENSUS_MAX`,
    `left out: ${leftOut.refusedListings} listings that no scan may ask, such as http or private addresses`,
    `left out of looks until a scan finds that they sell by POST: ${asked.postUndeclared} origins that are listed only by POST`,
    `asked each day: ${asked.origins} origins with ${asked.resources} resources, and ${asked.scansADay} full scans`,
    `about ${asked.requestsADay} requests a day; owners who opted out are left out as well`,
  ];
  return lines.join('\n');
}

async function runOnce(config: Config, census: CensusConfig, limit: number): Promise<void> {
  const disposables = new AsyncDisposableStack();
  try {
    const log = createLogger({ ...config, logLevel: 'fatal' });
    const options = { log, signer: null, onPublished: () => {} };
    const scans = await openScans(config, disposables, options);
    const openedCensus = openCensus(config, census, scans);
    disposables.defer(() => openedCensus.stop());
    const { store } = scans;
    showProgress('reading the indexes');
    await openedCensus.imports.runDue();
    const hosts = (await findHostsWithoutWord(store)).slice(0, limit);
    const missedCount = await lookAtAll(openedCensus, hosts);
    showProgress('');
    const words = await Promise.all(
      hosts.map((host) => store.census.findWord(host, utcDay(store.now()))),
    );
    const counts = [...Map.groupBy(words, (word) => word ?? 'without a word')];
    const texts = counts.map(([word, all]) => `${all.length} ${word}`).sort();
    console.log(`${hosts.length} origins: ${texts.join(', ') || 'each has its word of today'}`);
    if (missedCount > 0) console.log(`${missedCount} met a limit and are left to the service`);
    await store.instances.leave();
  } finally {
    showProgress('');
    await disposables.disposeAsync();
  }
}

/** Finds the hosts that have no word today, in the order in which the service would ask them. */
async function findHostsWithoutWord({ census, now }: Store): Promise<readonly string[]> {
  const dueHosts: { readonly host: string; readonly lookAtMs: number }[] = [];
  for await (const origins of census.readSummaries()) {
    for (const { host, lookAtMs, isChosen, wordAtMs } of origins) {
      const isDone = wordAtMs !== null && utcDay(wordAtMs) === utcDay(now());
      if (isChosen && !isDone) dueHosts.push({ host, lookAtMs });
    }
  }
  return dueHosts.toSorted((a, b) => a.lookAtMs - b.lookAtMs).map(({ host }) => host);
}

/** Resolves to the number of hosts at which a limit prevented every look. */
async function lookAtAll({ census }: OpenCensus, hosts: readonly string[]): Promise<number> {
  const queue = new PQueue({
    concurrency: MAX_LOOKS,
    intervalCap: MAX_LOOKS_PER_SECOND,
    interval: SECOND_MS,
  });
  let doneCount = 0;
  let missedCount = 0;
  const lookAt = async (host: string) => {
    if (!(await lookWithRetries(census, host))) missedCount += 1;
    doneCount += 1;
    showProgress(toProgressBar(doneCount, hosts.length));
  };
  await queue.addAll(hosts.map((host) => () => lookAt(host)));
  await census.decideSilentHosts();
  return missedCount;
}

async function lookWithRetries(census: OpenCensus['census'], host: string): Promise<boolean> {
  for (let attempts = 0; attempts < MAX_LOOK_ATTEMPTS; attempts += 1) {
    try {
      await census.lookNow(host);
      return true;
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      await pause(SECOND_MS);
    }
  }
  return false;
}

const BAR_WIDTH = 30;

function toProgressBar(doneCount: number, total: number): string {
  const filled = Math.round((doneCount / Math.max(total, 1)) * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${doneCount} of ${total} origins`;
}

/** Replaces the line of progress. An empty text clears it. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

await runCensusCommand(process.argv.slice(2));
