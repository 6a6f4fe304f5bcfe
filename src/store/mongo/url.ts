import { StoreError } from '../contract/store-error.ts';

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
  if (!servers) throw badUrl('names no servers and database');
  if (!database || !NAME.test(database)) throw badUrl('names no valid database');
  return { database, location: `${scheme}://${servers}/${database}` };
}

export function badUrl(why: string, cause?: unknown): StoreError {
  const message = `STORE_URL ${why}: accepted is mongodb://<user>:<password>@<servers>/<database>?<options>, such as mongodb://127.0.0.1:27017/scanner; special characters of a password are percent-encoded`;
  return new StoreError('bad_url', message, { cause });
}
