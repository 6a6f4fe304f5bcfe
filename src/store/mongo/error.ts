import { MongoNetworkError, MongoServerError } from 'mongodb';
import { StoreError, type StoreErrorCode } from '../contract/store-error.ts';

const DUPLICATE_KEY = 11_000;
/** OutOfDiskSpace, and the code with which hosted clusters refuse writes over their quota. */
const FULL_CODES = [14_031, 8_000];
/** Unauthorized, AuthenticationFailed. */
const REFUSED_CODES = [13, 18];

export function isDuplicate(cause: unknown): boolean {
  return cause instanceof MongoServerError && cause.code === DUPLICATE_KEY;
}

/** Two writers at once can both find nothing, and one then fails to insert; its second try finds the row. */
export async function upsert<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicate(error)) return write();
    throw error;
  }
}

/** Runs work on a database; everything it throws is a `StoreError`. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>;

export function createGuard(location: string, isClosed: () => boolean): Guard {
  return async (work) => {
    if (isClosed()) {
      throw new StoreError('unavailable', `the store ${location} is closed; open it again`);
    }
    try {
      return await work();
    } catch (cause) {
      throw mongoError(cause, location);
    }
  };
}

/** Any error of the driver as the store's own. `location` holds no credentials. */
export function mongoError(cause: unknown, location: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const { code, advice } = judge(cause);
  const said = cause instanceof Error ? cause.message : String(cause);
  const message = `the database ${location} failed (${said}): ${advice}`;
  return new StoreError(code, message, { cause, mayRetry: mayRetry(cause) });
}

function mayRetry(cause: unknown): boolean {
  if (cause instanceof MongoNetworkError) return true;
  return cause instanceof MongoServerError && cause.hasErrorLabel('RetryableWriteError');
}

function judge(cause: unknown): { code: StoreErrorCode; advice: string } {
  const number = cause instanceof MongoServerError ? Number(cause.code) : Number.NaN;
  if (FULL_CODES.includes(number)) {
    const advice = 'it has no room to write; give it some. What was stored before is intact';
    return { code: 'full', advice };
  }
  if (REFUSED_CODES.includes(number)) {
    const advice = 'check the user and password in STORE_URL, and that they may write there';
    return { code: 'unavailable', advice };
  }
  return { code: 'unavailable', advice: 'check that it runs and that this machine reaches it' };
}
