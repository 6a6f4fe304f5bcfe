import { StoreError, type StoreErrorCode } from '../contract/store-error.ts';

/** Primary result codes, https://www.sqlite.org/rescode.html */
const CODES: Readonly<Record<number, StoreErrorCode>> = {
  5: 'locked', // SQLITE_BUSY
  8: 'unavailable', // SQLITE_READONLY
  10: 'unavailable', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'unavailable', // SQLITE_CANTOPEN
  26: 'corrupt', // SQLITE_NOTADB
};

const ADVICE: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  locked: 'another program holds a lock on it; close that program',
  unavailable: 'check that the disk is there and that this user may write the folder',
  corrupt: 'it is damaged or no database of ours; restore it from a backup',
  full: 'there is no room to write; free some space. What was stored before is intact',
};

/** Converts any error of `node:sqlite`. */
export function sqliteError(cause: unknown, location: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const errcode = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : -1;
  // Extended codes carry the primary one in their low byte.
  const code = CODES[errcode & 0xff] ?? 'unavailable';
  const said = cause instanceof Error ? cause.message : String(cause);
  const advice = ADVICE[code] ?? 'see the cause';
  return new StoreError(code, `the store ${location} failed (${said}): ${advice}`, { cause });
}
