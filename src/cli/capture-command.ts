/**
 * `capture <origin> --output FILE`: records a scan and trims the recording, for a bug report or the
 * recorded origins of the tests. Where a check judges the trimmed recording differently, less is cut.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecording } from '../probe/read-recording.ts';
import { type Recording, type Trim, trimObservations } from '../probe/recording.ts';
import { type Engine, judgeRecording, startEngine } from './engine.ts';
import { toPrintedJson } from './formatters/escapes.ts';
import { type Streams, write, writeOutput } from './io.ts';
import { scanCommand } from './scan-command.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

/** Trims from the strongest to the weakest. Each of them removes secrets. */
const TRIMS: readonly Trim[] = [
  { maxTextChars: 2_000, headers: true },
  { maxTextChars: 20_000, headers: true },
  { maxTextChars: Number.POSITIVE_INFINITY, headers: true },
  { maxTextChars: Number.POSITIVE_INFINITY, headers: false },
];

/** Exit code 0. Throws UsageError, and what scans throw. */
export async function captureCommand(args: readonly string[], streams: Streams): Promise<0> {
  const { origin, from, output, flags, checksVersion } = parse(args);
  const whole =
    from === null ? await record(origin ?? '', flags, streams) : await readRecording(from);
  const engine = await startEngine(checksVersion);
  try {
    const { recording, secrets, moved } = await trim(whole, engine);
    const text = toPrintedJson(recording, 1);
    await writeOutput('--output', output, text);
    const before = JSON.stringify(whole, null, 1).length;
    const lines = [
      `${output}: ${kilobytes(text.length)} of ${kilobytes(before)}, ${secrets} secrets removed`,
      moved.length === 0
        ? 'Every check gives the same result as for the whole recording.'
        : `Without the secrets these checks say something else: ${moved.join(', ')}.`,
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
  return { origin, from, output, checksVersion, flags: flags.map((one) => `--${one}`) };
}

/** Scans as `scan --save` does. */
async function record(
  origin: string,
  flags: readonly string[],
  streams: Streams,
): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), 'x402-scan-'));
  try {
    const file = join(folder, 'recording.json');
    const report = ['--format', 'json', '--output', join(folder, 'report.json')];
    await scanCommand([origin, ...flags, '--save', file, ...report], streams);
    return await readRecording(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function trim(whole: Recording, engine: Engine) {
  const wanted = await outcomesOf(whole, engine);
  for (const [at, how] of TRIMS.entries()) {
    const { observations, secrets } = trimObservations(whole.observations, how);
    const recording: Recording = { ...whole, observations };
    const outcomes = await outcomesOf(recording, engine);
    const moved = [...wanted].filter(([id, was]) => outcomes.get(id) !== was).map(([id]) => id);
    if (moved.length === 0 || at === TRIMS.length - 1) return { recording, secrets, moved };
  }
  throw new Error('There is no way to trim: TRIMS is empty.');
}

async function outcomesOf(recording: Recording, engine: Engine): Promise<Map<string, string>> {
  const { report } = await judgeRecording(recording, engine);
  return new Map(report.results.map(({ id, status, outcome }) => [id, `${status} ${outcome}`]));
}

function kilobytes(length: number): string {
  return `${(length / 1_000).toFixed(1)} kB`;
}
