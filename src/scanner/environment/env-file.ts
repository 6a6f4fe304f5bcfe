/** Reads `.env` into the environment. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { OperatorError } from '../model/redact.ts';

const FILE = '.env';
/** There is no such file. A folder with this name is often a virtual environment of Python. */
const ABSENT_CODES: readonly string[] = ['ENOENT', 'EISDIR', 'ENOTDIR'];
/** First bytes of files that some editors and shells on Windows write. */
const BYTE_ORDER_MARKS = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
] as const;

/** `.env` is there, and cannot be read. The message is one line. */
export class EnvFileUnreadable extends OperatorError {
  override readonly name = 'EnvFileUnreadable';

  constructor(code: string) {
    super(`${FILE} is there but cannot be read (${code}). Make it readable, or move it away.`);
  }
}

/**
 * Loads `.env` of the working folder, if there is one. Variables that are already set keep their values. Returns the
 * names of the variables that it has set. Throws EnvFileUnreadable.
 */
export function loadEnvFile(environment = process.env): readonly string[] {
  const names: string[] = [];
  for (const [name, value] of Object.entries(parseEnv(readEnvFile()))) {
    if (name === '' || value === undefined || environment[name] !== undefined) continue;
    environment[name] = value;
    names.push(name);
  }
  return names;
}

/** Returns an empty text if there is no file. */
function readEnvFile(): string {
  try {
    return decode(readFileSync(FILE));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (ABSENT_CODES.includes(code)) return '';
    throw new EnvFileUnreadable(code);
  }
}

/** The decoder drops a byte order mark. */
function decode(bytes: Uint8Array): string {
  const mark = BYTE_ORDER_MARKS.find(([start]) => start.every((byte, n) => bytes[n] === byte));
  return new TextDecoder(mark?.[1] ?? 'utf-8').decode(bytes);
}
