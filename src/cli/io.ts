import { chmod, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { TSchema } from 'typebox';
import type { JsonValue } from '../scanner/model/json.ts';
import { messageOf } from '../scanner/model/redact.ts';
import { UsageError } from './usage.ts';

export type Streams = {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
};

/** Waits until the text is written, because a process that ends earlier loses text in a pipe. */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Reads a JSON file that the user named.
 * @param name how the user named the file, such as "--recording FILE"; the error message begins with it
 * @throws UsageError if the file cannot be read, or is not JSON
 */
export async function readJson(file: string, name = file): Promise<JsonValue> {
  try {
    const value: JsonValue = JSON.parse(await readFile(file, 'utf8'));
    return value;
  } catch (error) {
    throw new UsageError(`${name}: cannot be read as JSON (${messageOf(error)})`);
  }
}

/** Reads a text file that the user named. Parameters and errors are those of `readJson`. */
export function readText(file: string, name = file): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${name}: cannot be read (${messageOf(error)})`);
  });
}

/** Reads the output of `scan --format json`. `schema` must describe `Report`. Throws UsageError for other files. */
export async function readReport<Report>(file: string, schema: TSchema): Promise<Report> {
  const value: unknown = await readJson(file);
  // Loaded on demand: most commands read no report.
  const { Ajv } = await import('ajv');
  const validate = new Ajv().compile<Report>(schema);
  if (validate(value)) return value;
  throw new UsageError(`${file}: no scan report; make one with scan --format json --output FILE`);
}

const WRITE_ERROR_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist: create it first',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder: name a file in it',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * Error codes if the folder takes no new file, or if a rename cannot replace the file, because a container mounts it or
 * another user owns it. The file may still be writable.
 */
const NO_RENAME_CODES = ['EBUSY', 'EACCES', 'EPERM', 'EXDEV', 'EROFS'];

/**
 * Writes the whole file, or leaves the old file unchanged, for example if the disk is full. If no rename can replace
 * the old file, writes into it. The file keeps its mode. Throws UsageError.
 */
export async function writeOutput(flag: string, file: string, text: string): Promise<void> {
  try {
    // We write directly to devices and pipes, because a rename would replace /dev/null with a file.
    await ((await isDevice(file)) ? writeFile(file, text) : replaceFile(file, text));
  } catch (error) {
    const reason = WRITE_ERROR_REASONS[readCode(error)] ?? messageOf(error);
    throw new UsageError(`${flag} ${file}: cannot be written (${reason})`);
  }
}

async function isDevice(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => null);
  return stats !== null && !stats.isFile() && !stats.isDirectory();
}

/** The part of a mode that `chmod` takes; the rest is the type of the file. */
const MODE_BITS = 0o7777;

async function replaceFile(file: string, text: string): Promise<void> {
  // For a symbolic link, this replaces its target.
  const target = await realpath(file).catch(() => file);
  const partFile = `${target}.${process.pid}.part`;
  const oldStats = await stat(target).catch(() => null);
  try {
    await writeFile(partFile, text, { flag: 'wx' });
    if (oldStats !== null) await chmod(partFile, oldStats.mode & MODE_BITS);
    await rename(partFile, target);
  } catch (error) {
    // If the part cannot be deleted either, the first error says more.
    await rm(partFile, { force: true }).catch(() => undefined);
    if (oldStats?.isFile() !== true || !NO_RENAME_CODES.includes(readCode(error))) throw error;
    await writeFile(target, text);
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'] as const;

/** Says that no proxy of the environment is used. Commands call this if they did not reach the origin. */
export async function noteProxy(err: NodeJS.WriteStream): Promise<void> {
  const names = PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]);
  const name = names.find((candidate) => (process.env[candidate] ?? '') !== '');
  if (name === undefined) return;
  await write(err, `${name} is set, but no proxy is used: the guard connects to origins itself.\n`);
}

const STAGE_TEXTS = {
  documents: 'reading documents',
  resources: 'asking for paid resources',
  details: 'settling details',
} as const;

/** Shows the stage of a scan, but only on a terminal. */
export function createProgress(stream: NodeJS.WriteStream) {
  const clearLine = '\r\u001b[2K';
  return {
    show: (stage: keyof typeof STAGE_TEXTS) => {
      if (stream.isTTY) stream.write(`${clearLine}${STAGE_TEXTS[stage]} …`);
    },
    clear: () => {
      if (stream.isTTY) stream.write(clearLine);
    },
  };
}
