/** `scan`: from an origin or a recording to a printed report and an exit code. */

import type { ScanOutcome } from '../model/scan-outcome.ts';
import { OFFLINE_STANDING, type Standing } from '../model/standing.ts';
import { allowingOrigin } from '../origin/allow-hosts.ts';
import { DEFAULT_POLICY, type Origin, type OriginPolicy, parseOrigin } from '../origin/origin.ts';
import { createOracle } from '../payable/create-oracle.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
import { readRecording } from '../probe/read-recording.ts';
import { type Recording, toRecording, underCatalog } from '../probe/recording.ts';
import type { McpWanted } from '../scan/observe-tools.ts';
import { createScanner, judge } from '../scan/run-scan.ts';
import { type Engine, startEngine } from './engine.ts';
import { FORMATS } from './formatters/formats.ts';
import { createProgress } from './progress.ts';
import { parseScanOptions, type ScanOptions } from './scan-options.ts';
import { refuseUnknown, selectResults } from './select-results.ts';
import { readSources, type Sources } from './sources.ts';
import { type Streams, write } from './streams.ts';
import { missedThresholds } from './thresholds.ts';
import { UsageError } from './usage-error.ts';
import { writeOutput } from './write-output.ts';

const NO_TERMINAL_COLUMNS = 100;

/** What is to be judged: an origin to ask, or what an earlier scan saw. */
type Subject =
  | {
      readonly kind: 'origin';
      readonly origin: Origin;
      readonly policy: OriginPolicy;
      readonly standing: Standing;
      readonly mcp: McpWanted | undefined;
    }
  | { readonly kind: 'recording'; readonly recording: Recording };

/** The exit code: 0, or 1 where a threshold was missed. Throws UsageError and what scans throw. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  const options = parseScanOptions(args);
  // Bad arguments are refused before a thread is started or a host is asked.
  const subject = await subjectOf(options);
  const sources = await readSources(options.sources);
  const engine = await startEngine(options.checksVersion);
  try {
    refuseUnknown(options.only, engine.catalog.checks);
    refuseUnsent(subject, engine);
    const outcome =
      subject.kind === 'recording'
        ? await replay(subject.recording, engine)
        : await scanOrigin(subject, engine, streams);
    return await deliver(outcome, sources, options, streams);
  } finally {
    await engine.pool.close();
  }
}

async function subjectOf({
  origin,
  from,
  allowPrivate,
  offline,
  mcp,
}: ScanOptions): Promise<Subject> {
  if (from !== null) {
    const recording = await readRecording(from);
    const recorded = recording.observations.origin.url;
    if (origin !== null && !namesOrigin(origin, recorded)) {
      throw new UsageError(`--from ${from}: it is a scan of ${recorded}, not of ${origin}`);
    }
    return { kind: 'recording', recording };
  }
  const input = origin ?? '';
  const policy = allowPrivate ? allowingOrigin(input, DEFAULT_POLICY) : DEFAULT_POLICY;
  const parsed = parseOrigin(input, policy);
  // What asks a chain is slow to load, and not needed offline.
  const standing = offline
    ? OFFLINE_STANDING
    : (await import('./standing.ts')).standingFrom(process.env);
  return { kind: 'origin', origin: parsed, policy, standing, mcp: mcp ?? undefined };
}

/** Tools are called by POST, which older catalogs do not send. */
function refuseUnsent(subject: Subject, { catalog }: Engine): void {
  if (subject.kind !== 'origin' || subject.mcp === undefined || catalog.probing.post) return;
  throw new UsageError(`--mcp: catalog ${catalog.checksVersion} sends no POST; leave it out`);
}

function namesOrigin(input: string, recorded: string): boolean {
  return parseOrigin(input, allowingOrigin(recorded, DEFAULT_POLICY)).url === recorded;
}

async function scanOrigin(
  { origin, policy, standing, mcp }: Subject & { readonly kind: 'origin' },
  engine: Engine,
  { err }: Streams,
): Promise<ScanOutcome> {
  const progress = createProgress(err);
  const oracle = createOracle();
  try {
    const scanner = createScanner({
      ...engine,
      oracle,
      policy,
      standing,
      userAgent: scannerUserAgent('command line'),
      onStage: progress.at,
      mcp,
    });
    return await scanner.scan(origin);
  } finally {
    progress.end();
    await oracle.close();
  }
}

async function replay(recording: Recording, engine: Engine): Promise<ScanOutcome> {
  const observations = underCatalog(recording.observations, engine.catalog.probing);
  const began = performance.now();
  const { scannedAt, exhausted } = recording;
  const judged = await judge(observations, scannedAt, engine, { exhausted });
  const judgeMs = performance.now() - began;
  const timing = { gatherMs: 0, judgeMs, totalMs: judgeMs, requests: 0, roundTrips: 0 };
  return { ...judged, observations, timing };
}

async function deliver(
  outcome: ScanOutcome,
  sources: Sources,
  options: ScanOptions,
  { out, err }: Streams,
): Promise<0 | 1> {
  const { report, timing, observations } = outcome;
  const printed = selectResults(report.results, options.only);
  const text = FORMATS[options.format]({
    report,
    printed,
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
      : writeOutput('--save', options.save, `${JSON.stringify(recording, null, 1)}\n`),
  ]);
  if (options.timing && options.format !== 'json') await write(err, timingLine(timing));
  // A scan is not done again for a file that could not be written: the other one is there.
  const failure = delivered.find((one) => one.status === 'rejected');
  if (failure !== undefined) throw failure.reason;

  const missed = missedThresholds(report, printed, options);
  for (const line of missed) await write(err, `${line}\n`);
  return missed.length === 0 ? 0 : 1;
}

function timingLine({ gatherMs, judgeMs, totalMs, requests, roundTrips }: ScanOutcome['timing']) {
  const ms = (value: number) => `${Math.round(value)} ms`;
  return `gathered in ${ms(gatherMs)}, judged in ${ms(judgeMs)}, ${ms(totalMs)} in all; ${requests} requests, ${roundTrips} round trips deep\n`;
}

function hasColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && stream.hasColors() && process.env['NO_COLOR'] === undefined;
}
