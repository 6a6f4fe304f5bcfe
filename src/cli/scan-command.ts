/** `scan`: from an origin or a recording to a printed report and an exit code. */
import { startEngine } from './engine.ts';
import { parseScanOptions } from './scan-options.ts';
import type { Streams } from './streams.ts';

/** The exit code: 0, or 1 where a threshold was missed. Throws UsageError and what scans throw. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // Bad flags are refused before a thread is started, and a bad origin before a host is asked.
  const options = parseScanOptions(args);
  const starting = startEngine(options.checksVersion);
  // A failure is told where the engine is used: it may come before that.
  starting.catch(() => undefined);
  try {
    // The thread boots and loads the checks while the rest of this command is loaded here.
    const { scanSubject } = await import('./scan-subject.ts');
    return await scanSubject({ starting, options, streams });
  } finally {
    await starting.then(
      ({ pool }) => pool.close(),
      () => undefined,
    );
  }
}
