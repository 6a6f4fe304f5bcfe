import { bootPool } from './engine.ts';
import type { Streams } from './io.ts';
import { parseScanOptions } from './scan-options.ts';

/** The exit code: 0, or 1 where a threshold was missed. Throws UsageError and what scans throw. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // Bad flags are refused before a thread starts, and a bad origin before a request is sent.
  const options = parseScanOptions(args);
  const pool = await bootPool();
  try {
    // The thread boots while this one loads the rest of the command.
    const { scanSubject } = await import('./scan-subject.ts');
    return await scanSubject({ pool, options, streams });
  } finally {
    await pool.close();
  }
}
