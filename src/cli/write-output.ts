/** Writes a whole file or none: a full disk leaves the old one as it was. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { UsageError } from './usage-error.ts';

/** Throws UsageError with the reason. */
export async function writeOutput(flag: string, file: string, text: string): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  try {
    await writeFile(part, text, { flag: 'wx' });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${flag} ${file}: cannot be written (${reason})`);
  }
}
