import { type Clients, openClients } from '../scanner/clients/open-clients.ts';
import type { Pool } from '../scanner/engine/judging-pool.ts';
import { OriginRefused } from '../scanner/guard/failures.ts';
import {
  allowOrigin,
  DEFAULT_POLICY,
  type Origin,
  type OriginPolicy,
  parseOrigin,
} from '../scanner/guard/origin.ts';
import type { FailureReason } from '../scanner/model/observation.ts';
import { SERVICE_CHECKS_VERSION } from '../scanner/model/report.ts';
import { OFFLINE_STANDING } from '../scanner/model/standing.ts';
import { scannerUserAgent } from '../scanner/probe/client/user-agent.ts';
import { type Recording, toRecording } from '../scanner/probe/recording.ts';
import type { McpOptions } from '../scanner/scan/observe-tools.ts';
import { createScanner } from '../scanner/scan/run-scan.ts';
import type { ScanOutcome } from '../scanner/scan/scanner.ts';
import { addFlagHint, policyFor } from './allow-private.ts';
import type { NamedReport } from './ask-url.ts';
import { type Engine, judgeRecording, openEngine } from './engine.ts';
import { toPrintedJson } from './formatters/escapes.ts';
import { FORMATS } from './formatters/formats.ts';
import { createProgress, noteProxy, type Streams, write, writeOutput } from './io.ts';
import { readRepository, readSources, type Sources } from './sources.ts';
import {
  listMissedThresholds,
  refuseUnknownPattern,
  selectResults,
  type Thresholds,
} from './thresholds.ts';
import { type FormatName, UsageError } from './usage.ts';

const COLUMNS_WITHOUT_TERMINAL = 100;
/** Failures of the root that a network without direct access to the internet causes too. */
const NETWORK_REASONS: readonly FailureReason[] = ['dns', 'refused', 'reset', 'timeout'];

export type ScanCommandOptions = Thresholds & {
  /** The origin as typed; may be null if `from` is set. */
  readonly origin: string | null;
  /** Path and query of `<origin>`, if it names a resource. The scan then requests this resource too. */
  readonly resource: string | null;
  /** Method of that resource; null sends a GET, and a POST only if the answer shows that one is needed. */
  readonly method: 'GET' | 'POST' | null;
  /** True if the origin is the caller's own. It may then be private, and get a POST without a declaration. */
  readonly allowPrivate: boolean;
  readonly format: FormatName;
  /** File for the report; null for standard output. */
  readonly output: string | null;
  /** Check ids and prefixes with `*`; null prints all. */
  readonly only: readonly string[] | null;
  readonly checksVersion: string | null;
  /** File for the recording. */
  readonly save: string | null;
  /** Recording to judge instead of a scan. */
  readonly from: string | null;
  readonly offline: boolean;
  /** URLs of blockchain nodes; null keeps the URLs of the environment. */
  readonly rpc: string | null;
  readonly solanaRpc: string | null;
  /** Null without `--mcp`. A null path means that the scan looks for the endpoint. */
  readonly mcp: { readonly path: string | null } | null;
  /** PATH=FILE pairs. */
  readonly sources: readonly string[];
  readonly timing: boolean;
};

type OriginSubject = {
  readonly kind: 'origin';
  readonly origin: Origin;
  readonly policy: OriginPolicy;
  readonly mcp: McpOptions | undefined;
};

/** Its report also holds the answer of the resource that the caller named, if there is one. */
type NamedOutcome = ScanOutcome & { readonly report: NamedReport };

/** An origin to scan, or a recording of an earlier scan. */
type Subject = OriginSubject | { readonly kind: 'recording'; readonly recording: Recording };

type ScanCall = {
  /** May still be booting. */
  readonly pool: Pool;
  readonly options: ScanCommandOptions;
  readonly streams: Streams;
};

type ScanParts = Pick<ScanCall, 'options' | 'streams'> & {
  readonly engine: Engine;
  readonly clients: Clients;
  readonly sources: Sources;
};

type JudgedSubject = ScanParts & { readonly outcome: NamedOutcome };

/** Scans and judges. `printAndSave` prints what it returns. */
export async function scanSubject(call: ScanCall): Promise<JudgedSubject> {
  try {
    return await scanOnce(call);
  } catch (error) {
    const { origin, from, allowPrivate } = call.options;
    if (!(error instanceof OriginRefused) || allowPrivate || from !== null) throw error;
    throw new OriginRefused(error.reason, addFlagHint(error.message, origin ?? ''));
  }
}

async function scanOnce({ pool, options, streams }: ScanCall): Promise<JudgedSubject> {
  const subject = await readSubject(options);
  const sources = await readSources(options.sources);
  const clients = openClients();
  try {
    const engine = await openEngine(pool, options.checksVersion);
    refuseUnknownPattern(options.only, engine.catalog.checks);
    refuseMcpWithoutPost(subject, engine);
    const parts = { engine, clients, sources, options, streams };
    const outcome =
      subject.kind === 'recording'
        ? await judgeWithTiming(subject.recording, engine)
        : await addNamedResource(subject, await scanOrigin(subject, parts), parts);
    return { ...parts, outcome };
  } finally {
    await clients.close();
  }
}

async function readSubject(options: ScanCommandOptions): Promise<Subject> {
  const { origin, from, allowPrivate, mcp } = options;
  if (from !== null) {
    const { readRecording } = await import('../scanner/probe/read-recording.ts');
    const recording = await readRecording(from);
    const recordedUrl = recording.observations.origin.url;
    if (origin !== null && !isOriginOf(origin, recordedUrl)) {
      throw new UsageError(`--from ${from}: this is a scan of ${recordedUrl}, not of ${origin}`);
    }
    return { kind: 'recording', recording };
  }
  const input = origin ?? '';
  const policy = policyFor(input, allowPrivate);
  return { kind: 'origin', origin: parseOrigin(input, policy), policy, mcp: mcp ?? undefined };
}

function isOriginOf(input: string, recordedUrl: string): boolean {
  return parseOrigin(input, allowOrigin(recordedUrl, DEFAULT_POLICY)).url === recordedUrl;
}

/** Refuses `--mcp` with a catalog that sends no POST, because tools are called by POST. */
function refuseMcpWithoutPost(subject: Subject, { catalog }: Engine): void {
  if (subject.kind !== 'origin' || subject.mcp === undefined || catalog.probing.post) return;
  throw new UsageError(`--mcp: catalog ${catalog.checksVersion} sends no POST; leave it out`);
}

async function scanOrigin(
  { origin, policy, mcp }: OriginSubject,
  { engine, clients, options, streams }: ScanParts,
): Promise<ScanOutcome> {
  // The packages for blockchain nodes load slowly, and an offline scan does not need them.
  const standing = options.offline
    ? OFFLINE_STANDING
    : (await import('./standing.ts')).createCliStanding({
        ...process.env,
        ...(options.rpc === null ? {} : { RPC_URL: options.rpc }),
        ...(options.solanaRpc === null ? {} : { SOLANA_RPC_URL: options.solanaRpc }),
      });
  const progress = createProgress(streams.err);
  let isReached = false;
  try {
    const scanner = createScanner({
      ...engine,
      clients,
      policy,
      standing,
      userAgent: scannerUserAgent('command line'),
      onStage: progress.show,
      mcp,
    });
    const outcome = await scanner.scan(origin);
    const { root } = outcome.observations;
    isReached = root.ok || !NETWORK_REASONS.includes(root.reason);
    return outcome;
  } finally {
    progress.clear();
    if (!isReached) await noteProxy(streams.err);
  }
}

/** Asks the resource that the caller names, and adds its answer to the report. */
async function addNamedResource(
  { origin, policy }: OriginSubject,
  outcome: ScanOutcome,
  { engine, clients, options: { resource, allowPrivate, method } }: ScanParts,
): Promise<NamedOutcome> {
  if (resource === null) return outcome;
  const { addNamedUrl } = await import('./ask-url.ts');
  const url = `${origin.url}${resource}`;
  const call = { url, policy, engine, clients, method, isOwn: allowPrivate };
  return { ...outcome, report: await addNamedUrl(outcome.report, call) };
}

/** Judges the recording. The timing counts only the judging, because no scan runs. */
async function judgeWithTiming(recording: Recording, engine: Engine): Promise<NamedOutcome> {
  const startMs = performance.now();
  const judged = await judgeRecording(recording, engine);
  const judgeMs = performance.now() - startMs;
  const timing = { gatherMs: 0, judgeMs, totalMs: judgeMs, requests: 0, roundTrips: 0 };
  const { named } = recording;
  const report = named === undefined ? judged.report : { ...judged.report, named };
  return { ...judged, report, timing };
}

/** Returns exit code 0, or 1 if a threshold was missed. */
export async function printAndSave(subject: JudgedSubject): Promise<0 | 1> {
  const { engine, sources, options } = subject;
  const { out, err } = subject.streams;
  const { report, timing, observations } = subject.outcome;
  const printed = selectResults(report.results, options.only);
  const text = FORMATS[options.format]({
    report,
    printed,
    catalogs: { newest: engine.newestVersion, service: SERVICE_CHECKS_VERSION },
    rules: listRules(engine),
    timing: options.timing ? timing : null,
    locate: sources.locate,
    repository: readRepository(),
    hasColours: options.output === null && canShowColours(out),
    // Some terminals do not know their width, and say 0.
    columns: out.columns || COLUMNS_WITHOUT_TERMINAL,
  });
  const recording = toRecording(report, observations);
  const writes = await Promise.allSettled([
    options.output === null ? write(out, text) : writeOutput('--output', options.output, text),
    options.save === null
      ? undefined
      : writeOutput('--save', options.save, toPrintedJson(recording, 1)),
  ]);
  if (options.timing && options.format !== 'json') await write(err, timingLine(timing));
  // If one file cannot be written, the other is still written, because a scan is expensive to repeat.
  const failedWrite = writes.find((result) => result.status === 'rejected');
  if (failedWrite !== undefined) throw failedWrite.reason;

  const missedLines = listMissedThresholds(report, printed, options);
  for (const line of missedLines) await write(err, `${line}\n`);
  return missedLines.length === 0 ? 0 : 1;
}

function listRules({ catalog, checks }: Engine): ReadonlyMap<string, string> {
  const impls = new Set(catalog.checks.map(({ impl }) => impl));
  const usedChecks = checks.filter(({ impl }) => impls.has(impl));
  return new Map(usedChecks.map(({ id, definition }) => [id, definition.says.right]));
}

function timingLine({ gatherMs, judgeMs, totalMs, requests, roundTrips }: ScanOutcome['timing']) {
  const showMs = (value: number) => `${Math.round(value)} ms`;
  return `gathered in ${showMs(gatherMs)}, judged in ${showMs(judgeMs)}, ${showMs(totalMs)} in all; ${requests} requests, ${roundTrips} round trips deep\n`;
}

function canShowColours(stream: NodeJS.WriteStream): boolean {
  // https://no-color.org: an empty NO_COLOR counts as unset.
  const { NO_COLOR = '', ...env } = process.env;
  return stream.isTTY === true && NO_COLOR === '' && stream.hasColors(env);
}
