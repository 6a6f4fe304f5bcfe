import { createOracle, type Oracle } from '../buyers/create-oracle.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { OriginRefused } from '../guard/errors.ts';
import {
  allowingOrigin,
  DEFAULT_POLICY,
  type Origin,
  type OriginPolicy,
  parseOrigin,
} from '../guard/origin.ts';
import { OFFLINE_STANDING } from '../model/standing.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
import { type Recording, toRecording } from '../probe/recording.ts';
import type { McpOptions } from '../scan/observe-tools.ts';
import { createScanner } from '../scan/run-scan.ts';
import type { ScanOutcome } from '../scan/scanner.ts';
import { policyFor, withFlag } from './allow-private.ts';
import { type Engine, judgeRecording, openEngine } from './engine.ts';
import { toPrintedJson } from './formatters/escapes.ts';
import { FORMATS } from './formatters/formats.ts';
import { createProgress, type Streams, write, writeOutput } from './io.ts';
import { readSources, type Sources } from './sources.ts';
import { missedThresholds, refuseUnknown, selectResults, type Thresholds } from './thresholds.ts';
import { type FormatName, UsageError } from './usage.ts';

const NO_TERMINAL_COLUMNS = 100;

export type ScanCommandOptions = Thresholds & {
  /** Null with `from`. */
  readonly origin: string | null;
  /** Path and query of `<origin>`: a resource to request too. */
  readonly resource: string | null;
  readonly allowPrivate: boolean;
  readonly format: FormatName;
  readonly output: string | null;
  /** Check ids and prefixes with `*`; null prints all. */
  readonly only: readonly string[] | null;
  readonly checksVersion: string | null;
  readonly save: string | null;
  readonly from: string | null;
  readonly offline: boolean;
  /** Nodes for advice on the chain; null leaves the settings as they are. */
  readonly rpc: string | null;
  readonly solanaRpc: string | null;
  /** The endpoint's path, null if it is to be found; `mcp` is null without `--mcp`. */
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

/** An origin to scan, or a recording of an earlier scan. */
type Subject = OriginSubject | { readonly kind: 'recording'; readonly recording: Recording };

export type ScanCall = {
  /** May still be booting. */
  readonly pool: Pool;
  readonly options: ScanCommandOptions;
  readonly streams: Streams;
};

type ScanParts = {
  readonly engine: Engine;
  /** Null for a recording, which holds the clients' verdicts. */
  readonly oracle: Oracle | null;
  readonly sources: Sources;
  readonly options: ScanCommandOptions;
  readonly streams: Streams;
};

/** Scans and judges, then prints and writes. Returns the exit code of `scanCommand`. */
export async function scanSubject(call: ScanCall): Promise<0 | 1> {
  try {
    return await scanOnce(call);
  } catch (error) {
    const { origin, from, allowPrivate } = call.options;
    if (!(error instanceof OriginRefused) || allowPrivate || from !== null) throw error;
    throw new OriginRefused(error.reason, withFlag(error.message, origin ?? ''));
  }
}

async function scanOnce({ pool, options, streams }: ScanCall): Promise<0 | 1> {
  const subject = await subjectOf(options);
  const sources = await readSources(options.sources);
  const oracle = subject.kind === 'origin' ? createOracle() : null;
  try {
    const engine = await openEngine(pool, options.checksVersion);
    refuseUnknown(options.only, engine.catalog.checks);
    refuseUnsent(subject, engine);
    const parts = { engine, oracle, sources, options, streams };
    const outcome =
      subject.kind === 'recording'
        ? await replay(subject.recording, engine)
        : await scanOrigin(subject, parts);
    return await deliver(outcome, await askNamed(subject, outcome, parts), parts);
  } finally {
    await oracle?.close();
  }
}

async function subjectOf({
  origin,
  from,
  allowPrivate,
  mcp,
}: ScanCommandOptions): Promise<Subject> {
  if (from !== null) {
    const { readRecording } = await import('../probe/read-recording.ts');
    const recording = await readRecording(from);
    const recorded = recording.observations.origin.url;
    if (origin !== null && !namesOrigin(origin, recorded)) {
      throw new UsageError(`--from ${from}: it is a scan of ${recorded}, not of ${origin}`);
    }
    return { kind: 'recording', recording };
  }
  const input = origin ?? '';
  const policy = policyFor(input, allowPrivate);
  return { kind: 'origin', origin: parseOrigin(input, policy), policy, mcp: mcp ?? undefined };
}

function namesOrigin(input: string, recorded: string): boolean {
  return parseOrigin(input, allowingOrigin(recorded, DEFAULT_POLICY)).url === recorded;
}

/** Refuses `--mcp` with a catalog that sends no POST, by which tools are called. */
function refuseUnsent(subject: Subject, { catalog }: Engine): void {
  if (subject.kind !== 'origin' || subject.mcp === undefined || catalog.probing.post) return;
  throw new UsageError(`--mcp: catalog ${catalog.checksVersion} sends no POST; leave it out`);
}

async function scanOrigin(
  { origin, policy, mcp }: OriginSubject,
  { engine, oracle, options, streams }: ScanParts,
): Promise<ScanOutcome> {
  // The chain's clients load slowly and are not needed offline.
  const standing = options.offline
    ? OFFLINE_STANDING
    : (await import('./standing.ts')).standingFrom({
        ...process.env,
        ...(options.rpc === null ? {} : { RPC_URL: options.rpc }),
        ...(options.solanaRpc === null ? {} : { SOLANA_RPC_URL: options.solanaRpc }),
      });
  const progress = createProgress(streams.err);
  try {
    const scanner = createScanner({
      ...engine,
      ...(oracle ? { oracle } : {}),
      policy,
      standing,
      userAgent: scannerUserAgent('command line'),
      onStage: progress.at,
      mcp,
    });
    return await scanner.scan(origin);
  } finally {
    progress.end();
  }
}

/** A sentence for the text format; null if `<origin>` has no path. */
async function askNamed(
  subject: Subject,
  { report }: ScanOutcome,
  { engine, oracle, options: { resource, format } }: ScanParts,
): Promise<string | null> {
  if (subject.kind !== 'origin' || oracle === null || resource === null || format !== 'text') {
    return null;
  }
  const { describeNamedUrl } = await import('./ask-url.ts');
  const { origin, policy } = subject;
  return describeNamedUrl({ url: `${origin.url}${resource}`, policy, engine, oracle, report });
}

async function replay(recording: Recording, engine: Engine): Promise<ScanOutcome> {
  const began = performance.now();
  const judged = await judgeRecording(recording, engine);
  const judgeMs = performance.now() - began;
  const timing = { gatherMs: 0, judgeMs, totalMs: judgeMs, requests: 0, roundTrips: 0 };
  return { ...judged, timing };
}

async function deliver(
  outcome: ScanOutcome,
  named: string | null,
  { engine, sources, options, streams: { out, err } }: ScanParts,
): Promise<0 | 1> {
  const { report, timing, observations } = outcome;
  const printed = selectResults(report.results, options.only);
  const text = FORMATS[options.format]({
    report,
    printed,
    rules: rulesOf(engine),
    named,
    timing: options.timing ? timing : null,
    locate: sources.locate,
    colour: options.output === null && hasColours(out),
    columns: out.columns ?? NO_TERMINAL_COLUMNS,
  });
  const recording = toRecording(report, observations);
  const delivered = await Promise.allSettled([
    options.output === null ? write(out, text) : writeOutput('--output', options.output, text),
    options.save === null
      ? undefined
      : writeOutput('--save', options.save, toPrintedJson(recording, 1)),
  ]);
  if (options.timing && options.format !== 'json') await write(err, timingLine(timing));
  // One file that cannot be written must not lose the other: a scan is expensive to repeat.
  const failure = delivered.find((one) => one.status === 'rejected');
  if (failure !== undefined) throw failure.reason;

  const missed = missedThresholds(report, printed, options);
  for (const line of missed) await write(err, `${line}\n`);
  return missed.length === 0 ? 0 : 1;
}

function rulesOf({ catalog, checks }: Engine): ReadonlyMap<string, string> {
  const impls = new Set(catalog.checks.map(({ impl }) => impl));
  const judging = checks.filter(({ impl }) => impls.has(impl));
  return new Map(judging.map(({ id, definition }) => [id, definition.says.right]));
}

function timingLine({ gatherMs, judgeMs, totalMs, requests, roundTrips }: ScanOutcome['timing']) {
  const ms = (value: number) => `${Math.round(value)} ms`;
  return `gathered in ${ms(gatherMs)}, judged in ${ms(judgeMs)}, ${ms(totalMs)} in all; ${requests} requests, ${roundTrips} round trips deep\n`;
}

function hasColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && stream.hasColors() && process.env['NO_COLOR'] === undefined;
}
