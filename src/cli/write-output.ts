import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { UsageError } from './usage-error.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist: create it first',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder: name a file in it',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Writes a whole file or none: a full disk leaves the old one unchanged. Throws UsageError. */
export async function writeOutput(flag: string, file: string, text: string): Promise<void> {
  try {
    // Devices and pipes are written directly; a rename would replace /dev/null with a file.
    await ((await isDevice(file)) ? writeFile(file, text) : replace(file, text));
  } catch (error) {
    throw new UsageError(`${flag} ${file}: cannot be written (${reasonOf(error)})`);
  }
}

async function isDevice(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && !found.isFile() && !found.isDirectory();
}

async function replace(file: string, text: string): Promise<void> {
  // Replaces the target of a symbolic link, not the link.
  const target = await realpath(file).catch(() => file);
  const part = `${target}.${process.pid}.part`;
  try {
    await writeFile(part, text, { flag: 'wx' });
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? error.message;
}
