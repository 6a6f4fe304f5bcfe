import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { TSchema } from 'typebox';
import type { JsonValue } from '../model/json.ts';
import { messageOf, UsageError } from './usage.ts';

export type Streams = {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
};

/** Waits until the text is written: a process that ends earlier would lose text in a pipe. */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Reads a JSON file that the user named.
 * @param name how the user named it, such as "--recording FILE"; begins the error
 * @throws UsageError if it cannot be read, or is no JSON
 */
export async function readJson(file: string, name = file): Promise<JsonValue> {
  try {
    const value: JsonValue = JSON.parse(await readFile(file, 'utf8'));
    return value;
  } catch (error) {
    throw new UsageError(`${name}: cannot be read as JSON (${messageOf(error)})`);
  }
}

/** Reads a file that the user named, as text; as `readJson` otherwise. */
export function readText(file: string, name = file): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${name}: cannot be read (${messageOf(error)})`);
  });
}

/** Reads the output of `scan --format json`. Throws UsageError if `schema`, which must describe `Report`, refuses it. */
export async function readReport<Report>(file: string, schema: TSchema): Promise<Report> {
  const value: unknown = await readJson(file);
  // Loaded on demand: most commands read no report.
  const { Ajv } = await import('ajv');
  const validate = new Ajv().compile<Report>(schema);
  if (validate(value)) return value;
  throw new UsageError(`${file}: no scan report; make one with scan --format json --output FILE`);
}

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
  const stats = await stat(file).catch(() => null);
  return stats !== null && !stats.isFile() && !stats.isDirectory();
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
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? messageOf(error);
}

/** Stages of a scan; shown on standard error, on a terminal only. */
const STAGES = {
  documents: 'reading documents',
  resources: 'asking for paid resources',
  details: 'settling details',
} as const;

export function createProgress(stream: NodeJS.WriteStream) {
  const clear = '\r\u001b[2K';
  return {
    at: (stage: keyof typeof STAGES) => {
      if (stream.isTTY) stream.write(`${clear}${STAGES[stage]} …`);
    },
    end: () => {
      if (stream.isTTY) stream.write(clear);
    },
  };
}
