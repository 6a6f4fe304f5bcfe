import { type Db, MongoNetworkError, MongoServerError } from 'mongodb';
import { StoreError, type StoreErrorCode } from '../errors.ts';

export type MongoUrl = {
  readonly database: string;
  /** Servers and database, without credentials and options. */
  readonly location: string;
};

const SHAPE =
  /^(?<scheme>mongodb(?:\+srv)?):\/\/(?:[^/?]*@)?(?<servers>[^/?@]+)\/(?<database>[^?]*)/;
/** Characters that MongoDB refuses in the name of a database. */
const NAME = /^[^/\\. "$*<>:|?\0]{1,63}$/;

/** @throws StoreError `bad_url`, in which no credentials appear */
export function parseMongoUrl(url: string): MongoUrl {
  const { scheme, servers, database } = SHAPE.exec(url)?.groups ?? {};
  if (!servers) throw toBadUrlError('names no servers and database');
  if (!database || !NAME.test(database)) throw toBadUrlError('names no valid database');
  return { database, location: `${scheme}://${servers}/${database}` };
}

export function toBadUrlError(why: string, cause?: unknown): StoreError {
  const message = `STORE_URL ${why}: accepted is mongodb://<user>:<password>@<servers>/<database>?<options>, such as mongodb://127.0.0.1:27017/scanner; special characters of a password are percent-encoded`;
  return new StoreError('bad_url', message, { cause });
}

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
      throw toStoreError(cause, location);
    }
  };
}

/** Any error of the driver as the store's own. `location` holds no credentials. */
export function toStoreError(cause: unknown, location: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const { code, advice } = classifyError(cause);
  const said = cause instanceof Error ? cause.message : String(cause);
  const message = `the database ${location} failed (${said}): ${advice}`;
  return new StoreError(code, message, { cause, mayRetry: mayRetry(cause) });
}

function mayRetry(cause: unknown): boolean {
  if (cause instanceof MongoNetworkError) return true;
  return cause instanceof MongoServerError && cause.hasErrorLabel('RetryableWriteError');
}

function classifyError(cause: unknown): { code: StoreErrorCode; advice: string } {
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

const MEASURE_EVERY_MS = 60_000;

/**
 * Tells the database's time without a round trip: this machine's clock, corrected by a measurement each minute.
 * Instances with wrong clocks thus agree on which owner is silent and which row has expired.
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
  }, MEASURE_EVERY_MS);
  timer.unref();
  return { now: () => Date.now() + offsetMs, stop: () => clearInterval(timer) };
}

async function measureOffset(database: Db, location: string): Promise<number> {
  const sentMs = Date.now();
  try {
    const { localTime } = await database.admin().command({ hello: 1 });
    if (!(localTime instanceof Date)) return 0;
    // The reply was written, as a best guess, half-way. Times are whole milliseconds: their texts have no more, and a
    // reader of changes who names the last one by its text would get it again.
    return Math.round(localTime.getTime() - (sentMs + Date.now()) / 2);
  } catch (cause) {
    throw toStoreError(cause, location);
  }
}
