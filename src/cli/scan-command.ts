/** `scan`: from an origin or a recording to a printed report and an exit code. */
import { bootPool } from './engine.ts';
import { parseScanOptions } from './scan-options.ts';
import type { Streams } from './streams.ts';

/** The exit code: 0, or 1 where a threshold was missed. Throws UsageError and what scans throw. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // Bad flags are refused before a thread is started, and a bad origin before a host is asked.
  const options = parseScanOptions(args);
  const pool = await bootPool();
  try {
    // The thread boots while the rest of this command is loaded here.
    const { scanSubject } = await import('./scan-subject.ts');
    return await scanSubject({ pool, options, streams });
  } finally {
    await pool.close();
  }
}
