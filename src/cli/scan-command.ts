import { bootPool } from './engine.ts';
import type { Streams } from './io.ts';
import { parseScanOptions } from './scan-options.ts';

/** Returns exit code 0, or 1 if a threshold was missed. Throws UsageError, and the errors of a scan. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // Bad flags are refused before a thread starts.
  const options = parseScanOptions(args);
  const pool = await bootPool();
  try {
    // The threads boot while this import loads the rest of the command.
    const { printAndSave, scanSubject } = await import('./scan-subject.ts');
    return await printAndSave(await scanSubject({ pool, options, streams }));
  } finally {
    await pool.close();
  }
}
