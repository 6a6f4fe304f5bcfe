import { type Db, MongoNetworkError, MongoServerError } from 'mongodb';
import { messageOf } from '../../../scanner/model/redact.ts';
import { StoreError, type StoreErrorCode } from '../store-error.ts';

export type MongoUrl = {
  readonly database: string;
  /** Servers and database, without credentials and options. */
  readonly location: string;
};

const URL_PATTERN =
  /^(?<scheme>mongodb(?:\+srv)?):\/\/(?:[^/?]*@)?(?<servers>[^/?@]+)\/(?<database>[^?]*)/;
/** MongoDB refuses other characters in the name of a database. */
const DATABASE_NAME_PATTERN = /^[^/\\. "$*<>:|?\0]{1,63}$/;

/** @throws StoreError `bad_url`; its message has no credentials */
export function parseMongoUrl(url: string): MongoUrl {
  const { scheme, servers, database } = URL_PATTERN.exec(url)?.groups ?? {};
  if (!servers) throw toBadUrlError('names no servers and database');
  if (!database || !DATABASE_NAME_PATTERN.test(database))
    throw toBadUrlError('names no valid database');
  return { database, location: `${scheme}://${servers}/${database}` };
}

export function toBadUrlError(problem: string, cause?: unknown): StoreError {
  const message = `STORE_URL ${problem}: accepted is mongodb://<user>:<password>@<servers>/<database>?<options>, such as mongodb://127.0.0.1:27017/scanner; special characters of a password are percent-encoded`;
  return new StoreError('bad_url', message, { cause });
}

const DUPLICATE_KEY_CODE = 11_000;
/** OutOfDiskSpace, and the code of hosted clusters for writes over their quota. */
const FULL_CODES = [14_031, 8_000];
/** Unauthorized, AuthenticationFailed. */
const ACCESS_DENIED_CODES = [13, 18];

export function isDuplicateKey(cause: unknown): boolean {
  return cause instanceof MongoServerError && cause.code === DUPLICATE_KEY_CODE;
}

/** Repeats an upsert once if it fails because another writer inserted the same row at the same time. */
export async function retryUpsert<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicateKey(error)) return write();
    throw error;
  }
}

/** Runs `work` on a database, and converts every error to a `StoreError`. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>;

export function createGuard(location: string, isClosed: () => boolean): Guard {
  return async (work) => {
    if (isClosed()) {
      throw new StoreError('unavailable', `the store ${location} is closed; open it again`);
    }
    try {
      return await work();
    } catch (cause) {
      throw toStoreError(cause, location);
    }
  };
}

/** Converts any error of the driver. `location` has no credentials. */
export function toStoreError(cause: unknown, location: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const { code, advice } = classifyError(cause);
  const reason = messageOf(cause);
  const message = `the database ${location} failed (${reason}): ${advice}`;
  return new StoreError(code, message, { cause, mayRetry: isRetryable(cause) });
}

function isRetryable(cause: unknown): boolean {
  if (cause instanceof MongoNetworkError) return true;
  return cause instanceof MongoServerError && cause.hasErrorLabel('RetryableWriteError');
}

function classifyError(cause: unknown): { code: StoreErrorCode; advice: string } {
  const code = cause instanceof MongoServerError ? Number(cause.code) : Number.NaN;
  if (FULL_CODES.includes(code)) {
    const advice = 'it has no room to write; give it some. What was stored before is intact';
    return { code: 'full', advice };
  }
  if (ACCESS_DENIED_CODES.includes(code)) {
    const advice = 'check the user and password in STORE_URL, and that they may write there';
    return { code: 'unavailable', advice };
  }
  return { code: 'unavailable', advice: 'check that it runs and that this machine reaches it' };
}

const MEASURE_INTERVAL_MS = 60_000;

/**
 * Gives the database's time without a round trip: the clock of this machine, corrected by a measurement each minute.
 * Instances with wrong clocks therefore agree on which instance is gone and which row has expired.
 * @throws StoreError `unavailable` if the first measurement fails
 */
export async function startClock(
  database: Db,
  location: string,
  onError: (message: string, error: unknown) => void,
) {
  let offsetMs = await measureOffset(database, location);
  const timer = setInterval(async () => {
    try {
      offsetMs = await measureOffset(database, location);
    } catch (error) {
      onError("the database's time was not measured", error);
    }
  }, MEASURE_INTERVAL_MS);
  timer.unref();
  return { now: () => Date.now() + offsetMs, stop: () => clearInterval(timer) };
}

async function measureOffset(database: Db, location: string): Promise<number> {
  const sentMs = Date.now();
  try {
    const { localTime } = await database.admin().command({ hello: 1 });
    if (!(localTime instanceof Date)) return 0;
    // We assume that the server read its clock half-way between request and reply. The offset is rounded, because the
    // list of changes shows times in whole milliseconds. A client that sends the last time back must not get that change
    // again.
    return Math.round(localTime.getTime() - (sentMs + Date.now()) / 2);
  } catch (cause) {
    throw toStoreError(cause, location);
  }
}
