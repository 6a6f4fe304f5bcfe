/**
 * `npm run census -- --dry-run` reads the indexes and prints what a day would do; `-- --once --limit N` does the work
 * of one day for N origins, and ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { inspect, parseArgs } from 'node:util';
import PQueue from 'p-queue';
import { createAnswerReader } from '../answers/answer-reader.ts';
import { MAX_LOOKS, MAX_LOOKS_PER_SECOND } from '../census/census.ts';
import { chooseOrigins } from '../census/choose.ts';
import { listSources, readListings } from '../census/import.ts';
import { MAX_RESOURCES } from '../census/listing.ts';
import { type CensusConfig, readExcluded } from '../config/census.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { loadEnvFile, SettingError } from '../config/environment.ts';
import { CatalogError } from '../engine/catalog/catalog.ts';
import { LimitReached } from '../looks/in-turn.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
import { StoreError } from '../store/errors.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { createLogger } from './logger.ts';
import { type OpenCensus, openCensus } from './open-census.ts';
import { openScans } from './open-scans.ts';

const USAGE =
  'npm run census -- --dry-run [--json] prints what a day would do; -- --once --limit N does the work of one day for N origins.';
const FAILED = 2;
/** Requests of a scan of a usual seller. */
const SCAN_REQUESTS = 22;
const WEEK_DAYS = 7;
const SECOND_MS = 1_000;
/** Looks that found no room for so long are left to the service. */
const ROOM_TRIES = 180;

/** The command was used wrongly; its message is one line. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

async function runCensusCommand(args: readonly string[]): Promise<void> {
  try {
    const wanted = readArguments(args);
    loadEnvFile();
    const config = loadConfig(process.env);
    const { census } = config;
    if (census === null) {
      throw new UsageError('No index to ask: set CENSUS=bazaar,x402scan, or CENSUS_FILE.');
    }
    if (wanted.limit === null) await dryRun(config, census, wanted.isJson);
    else await runOnce(config, census, wanted.limit);
  } catch (error) {
    const isForOperators =
      error instanceof UsageError ||
      error instanceof SettingError ||
      error instanceof CatalogError ||
      error instanceof StoreError;
    console.error(isForOperators ? error.message : inspect(error));
    process.exitCode = FAILED;
  }
}

/** `limit` is null for a dry run. */
function readArguments(args: readonly string[]): { limit: number | null; isJson: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  const options = { 'dry-run': flag, once: flag, json: flag, limit: { type: 'string' } } as const;
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
  try {
    values = parseArgs({ args: args.filter((one) => one !== '--'), options }).values;
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

/** Asks only the indexes. */
async function dryRun(config: Config, census: CensusConfig, isJson: boolean): Promise<void> {
  const answers = createAnswerReader();
  const userAgent = scannerUserAgent(`${config.siteUrl}/about-census`);
  const options = { config: census, policy: config.originPolicy, userAgent, answers };
  const day = new DayOutline();
  try {
    for (const source of listSources(census)) {
      let pages = 0;
      const onRequest = () => {
        pages += 1;
        showProgress(`${source}: ${pages} pages`);
      };
      day.add(source, await readListings(source, { ...options, onRequest }));
    }
  } finally {
    clearProgress();
    await answers.close();
  }
  const outline = day.outline(census.maxOrigins, await readExcluded(census.exclude));
  console.log(isJson ? JSON.stringify(outline, null, 2) : toText(outline));
  if (outline.sources.every(({ origins, detail }) => origins === 0 && detail !== null)) {
    throw new UsageError('No index answered: see above.');
  }
}

type Outline = ReturnType<DayOutline['outline']>;

/** The work of one day, by the lists of the sources. */
class DayOutline {
  readonly #sources: {
    readonly source: string;
    readonly origins: number;
    readonly detail: string | null;
  }[] = [];
  readonly #origins = new Map<
    string,
    { readonly domain: string; readonly resources: Set<string> }
  >();
  #refused = 0;

  add(source: string, { found, detail }: Awaited<ReturnType<typeof readListings>>): void {
    this.#sources.push({ source, origins: found.byHost.size, detail });
    this.#refused += found.refused;
    for (const [host, { domain, resources }] of found.byHost) {
      const known = this.#origins.get(host) ?? { domain, resources: new Set<string>() };
      for (const { method, path } of resources) known.resources.add(`${method} ${path}`);
      this.#origins.set(host, known);
    }
  }

  outline(maxOrigins: number, excluded: ReadonlySet<string>) {
    const candidates = [...this.#origins].map(([host, { domain }]) => ({ host, domain }));
    const { hosts, leftOut } = chooseOrigins(candidates, { maxOrigins, excluded });
    let resources = 0;
    for (const host of hosts) {
      resources += Math.min(this.#origins.get(host)?.resources.size ?? 0, MAX_RESOURCES);
    }
    const scans = hosts.size / WEEK_DAYS;
    const requests = (resources * (WEEK_DAYS - 1)) / WEEK_DAYS + scans * (SCAN_REQUESTS + 1);
    return {
      sources: this.#sources,
      origins: candidates.length,
      leftOut: { refusedListings: this.#refused, ...leftOut },
      asked: {
        origins: hosts.size,
        resources,
        scansADay: Math.round(scans),
        requestsADay: Math.round(requests),
      },
    };
  }
}

function toText({ sources, origins, leftOut, asked }: Outline): string {
  const lines = [
    ...sources.map(({ source, origins: listed, detail }) => {
      const end = detail === null ? '' : ` (broke off: ${detail})`;
      return `${source} lists ${listed} origins${end}`;
    }),
    `${origins} different origins`,
    `left out: ${leftOut.excluded} by CENSUS_EXCLUDE, ${leftOut.domain} beyond 20 of a domain, ${leftOut.max} beyond CENSUS_MAX`,
    `left out: ${leftOut.refusedListings} listings that no scan may ask, such as http or private addresses`,
    `asked: ${asked.origins} origins a day by ${asked.resources} resources, ${asked.scansADay} of them by a full scan`,
    `about ${asked.requestsADay} requests a day; owners who opted out are left out as well`,
  ];
  return lines.join('\n');
}

async function runOnce(config: Config, census: CensusConfig, limit: number): Promise<void> {
  const opened = new AsyncDisposableStack();
  try {
    const log = createLogger({ ...config, logLevel: 'fatal' });
    const scans = await openScans(config, opened, { log, signer: null, onPublished: () => {} });
    const running = openCensus(config, census, scans);
    opened.defer(() => running.stop());
    const { store } = scans;
    showProgress('reading the indexes');
    await running.imports.runDue();
    const hosts = (await hostsWithoutWord(store)).slice(0, limit);
    const left = await lookAtAll(running, hosts);
    clearProgress();
    const words = await Promise.all(
      hosts.map((host) => store.census.findWord(host, utcDay(store.now()))),
    );
    const counts = [...Map.groupBy(words, (word) => word ?? 'without a word')];
    const said = counts.map(([word, all]) => `${all.length} ${word}`).sort();
    console.log(`${hosts.length} origins: ${said.join(', ') || 'each has its word of today'}`);
    if (left > 0) console.log(`${left} found no room and are left to the service`);
    await store.instances.leave();
  } finally {
    clearProgress();
    await opened.disposeAsync();
  }
}

/** The hosts that have no word today, in the order in which the service would ask them. */
async function hostsWithoutWord({ census, now }: Store): Promise<readonly string[]> {
  const left: { readonly host: string; readonly lookAtMs: number }[] = [];
  for await (const rows of census.readBatches()) {
    for (const { host, lookAtMs, isChosen, wordAtMs } of rows) {
      const isDone = wordAtMs !== null && utcDay(wordAtMs) === utcDay(now());
      if (isChosen && !isDone) left.push({ host, lookAtMs });
    }
  }
  return left.toSorted((a, b) => a.lookAtMs - b.lookAtMs).map(({ host }) => host);
}

/** Resolves to the number of hosts that found no room. */
async function lookAtAll({ census }: OpenCensus, hosts: readonly string[]): Promise<number> {
  const queue = new PQueue({
    concurrency: MAX_LOOKS,
    intervalCap: MAX_LOOKS_PER_SECOND,
    interval: SECOND_MS,
  });
  let done = 0;
  let left = 0;
  const lookAt = async (host: string) => {
    if (!(await lookInRoom(census, host))) left += 1;
    done += 1;
    showProgress(bar(done, hosts.length));
  };
  await queue.addAll(hosts.map((host) => () => lookAt(host)));
  await census.decideSilentHosts();
  return left;
}

async function lookInRoom(census: OpenCensus['census'], host: string): Promise<boolean> {
  for (let tries = 0; tries < ROOM_TRIES; tries += 1) {
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

function bar(done: number, all: number): string {
  const full = Math.round((done / Math.max(all, 1)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}] ${done} of ${all} origins`;
}

/** Progress is shown on a terminal only. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

await runCensusCommand(process.argv.slice(2));
