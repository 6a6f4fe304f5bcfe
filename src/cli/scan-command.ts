/** `scan`: from an origin or a recording to a printed report and an exit code. */
import { allowingOrigin } from '../origin/allow-hosts.ts';
import { DEFAULT_POLICY, parseOrigin } from '../origin/origin.ts';
import { createOracle } from '../payable/create-oracle.ts';
import { startEngine } from './engine.ts';
import { parseScanOptions, type ScanOptions } from './scan-options.ts';
import type { Subject } from './scan-subject.ts';
import { readSources } from './sources.ts';
import type { Streams } from './streams.ts';
import { UsageError } from './usage-error.ts';

/** The exit code: 0, or 1 where a threshold was missed. Throws UsageError and what scans throw. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  const options = parseScanOptions(args);
  // Bad arguments are refused before a thread is started or a host is asked.
  const subject = await subjectOf(options);
  const sources = await readSources(options.sources);
  const oracle = subject.kind === 'origin' ? createOracle() : null;
  const starting = startEngine(options.checksVersion);
  try {
    // The checks load while the rest of this command does, and the clients once it has.
    const { scanSubject } = await import('./scan-subject.ts');
    oracle?.start();
    const engine = await starting;
    return await scanSubject(subject, { engine, oracle, sources, options, streams });
  } finally {
    const close = starting.then(
      ({ pool }) => pool.close(),
      () => undefined,
    );
    await Promise.all([close, oracle?.close()]);
  }
}

async function subjectOf({ origin, from, allowPrivate, mcp }: ScanOptions): Promise<Subject> {
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
  const policy = allowPrivate ? allowingOrigin(input, DEFAULT_POLICY) : DEFAULT_POLICY;
  return { kind: 'origin', origin: parseOrigin(input, policy), policy, mcp: mcp ?? undefined };
}

function namesOrigin(input: string, recorded: string): boolean {
  return parseOrigin(input, allowingOrigin(recorded, DEFAULT_POLICY)).url === recorded;
}
