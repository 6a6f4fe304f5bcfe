/**
 * `capture <origin> --output FILE`: records a scan and trims the recording, for a bug report or the
 * recorded origins of the tests. If a check judges the trimmed recording differently, a milder trim is tried.
 */
import { readRecording } from '../scanner/probe/read-recording.ts';
import {
  type Recording,
  type TrimOptions,
  toRecording,
  trimObservations,
} from '../scanner/probe/recording.ts';
import { bootPool, type Engine, judgeRecording, startEngine } from './engine.ts';
import { toPrintedJson } from './formatters/escapes.ts';
import { type Streams, write, writeOutput } from './io.ts';
import { parseScanOptions } from './scan-command.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

/** From the strongest on. Each trim, also the weakest, removes secrets. */
const STRONG_TRIMS: readonly TrimOptions[] = [
  { maxTextChars: 2_000, dropsUnreadHeaders: true },
  { maxTextChars: 20_000, dropsUnreadHeaders: true },
  { maxTextChars: Number.POSITIVE_INFINITY, dropsUnreadHeaders: true },
];
const WEAKEST_TRIM = { maxTextChars: Number.POSITIVE_INFINITY, dropsUnreadHeaders: false };

/** Returns the exit code. Throws UsageError, and the errors of a scan. */
export async function captureCommand(args: readonly string[], streams: Streams): Promise<0> {
  const { origin, from, output, flags, checksVersion } = parse(args);
  // Exactly one of `origin` and `from` is null.
  const fullRecording =
    from === null ? await recordScan(origin ?? '', flags, streams) : await readRecording(from);
  const engine = await startEngine(checksVersion);
  try {
    const { recording, secretCount, changedIds } = await trimRecording(fullRecording, engine);
    const text = toPrintedJson(recording, 1);
    await writeOutput('--output', output, text);
    const fullChars = JSON.stringify(fullRecording, null, 1).length;
    const lines = [
      `${output}: ${toKilobytes(text.length)} of ${toKilobytes(fullChars)}, ${secretCount} secrets removed`,
      changedIds.length === 0
        ? 'Every check gives the same result as for the whole recording.'
        : `Without the secrets, these checks give another result: ${changedIds.join(', ')}.`,
      'Read it before you publish it: only you know all of your secrets.',
    ];
    await write(streams.out, `${lines.join('\n')}\n`);
    return 0;
  } finally {
    await engine.pool.close();
  }
}

function parse(args: readonly string[]) {
  const { values, positionals } = readFlags('capture', args, {
    from: { type: 'string' },
    output: { type: 'string' },
    'allow-private': { type: 'boolean' },
    offline: { type: 'boolean' },
    mcp: { type: 'boolean' },
    'checks-version': { type: 'string' },
  });
  const [origin = null, ...more] = positionals;
  const { from = null, output, 'checks-version': checksVersion = null } = values;
  if (output === undefined || more.length > 0 || (origin === null) === (from === null)) {
    throw new UsageError(usageLine('capture'));
  }
  const flags = (['allow-private', 'offline', 'mcp'] as const).filter((name) => values[name]);
  return { origin, from, output, checksVersion, flags: flags.map((name) => `--${name}`) };
}

async function recordScan(
  origin: string,
  flags: readonly string[],
  streams: Streams,
): Promise<Recording> {
  // If the origin has a path, that resource's answer must not be in a recording that may be published.
  const options = { ...parseScanOptions([origin, ...flags]), resource: null };
  const pool = await bootPool();
  try {
    const { scanSubject } = await import('./scan-subject.ts');
    const { outcome } = await scanSubject({ pool, options, streams });
    return toRecording(outcome.report, outcome.observations);
  } finally {
    await pool.close();
  }
}

/** Uses the first trim that changes no result, else the weakest. Drops `named`: the query of its path may be secret. */
async function trimRecording({ named: _, ...fullRecording }: Recording, engine: Engine) {
  const fullOutcomes = await judgeOutcomes(fullRecording, engine);
  const tryTrim = async (trim: TrimOptions) => {
    const { observations, secretCount } = trimObservations(fullRecording.observations, trim);
    const recording: Recording = { ...fullRecording, observations };
    const outcomes = await judgeOutcomes(recording, engine);
    const changedIds = [...fullOutcomes]
      .filter(([id, outcome]) => outcomes.get(id) !== outcome)
      .map(([id]) => id);
    return { recording, secretCount, changedIds };
  };
  for (const trim of STRONG_TRIMS) {
    const trimmed = await tryTrim(trim);
    if (trimmed.changedIds.length === 0) return trimmed;
  }
  return tryTrim(WEAKEST_TRIM);
}

/** Status and outcome of each check, by its id. */
async function judgeOutcomes(recording: Recording, engine: Engine): Promise<Map<string, string>> {
  const { report } = await judgeRecording(recording, engine);
  return new Map(report.results.map(({ id, status, outcome }) => [id, `${status} ${outcome}`]));
}

function toKilobytes(chars: number): string {
  return `${(chars / 1_000).toFixed(1)} kB`;
}
