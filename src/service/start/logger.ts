import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { redact } from '../../scanner/model/redact.ts';
import type { Config } from '../config/config.ts';

/** Real keys are longer. Masking shorter texts would hide ordinary words. */
const MIN_SECRET_LENGTH = 8;
/**
 * Lines are buffered, because a write for each line would take longer than a request. The buffer is flushed at 4 KiB,
 * each second, at a fatal line and at the exit. Writes are synchronous, because an exit would lose a pending write.
 */
const STANDARD_OUTPUT_OPTIONS = {
  dest: 1,
  sync: true,
  minLength: 4_096,
  periodicFlush: 1_000,
} as const;
const SECRET_MASK = '(hidden)';
const MAX_ERROR_DEPTH = 6;

/** Returns the secrets in the settings: keys, and parts of URLs that may be keys. */
function listSecrets({ payment }: Pick<Config, 'payment'>): readonly string[] {
  const { rpcUrl, facilitatorUrl, settlementKey, cdpKey } = payment;
  const urlKeys = [rpcUrl, facilitatorUrl].flatMap((url) => (url === null ? [] : findKeys(url)));
  const secrets = [settlementKey?.slice(2), cdpKey?.id, ...urlKeys];
  return secrets.filter((secret) => secret !== undefined).filter(isLongEnough);
}

export function createLogger(
  config: Pick<Config, 'logLevel' | 'payment'>,
  destination?: DestinationStream,
): Logger {
  const secrets = listSecrets(config);
  const hide = (text: string) =>
    secrets.reduce((masked, secret) => masked.replaceAll(secret, SECRET_MASK), text);
  return pino(
    {
      level: config.logLevel,
      // Libraries quote URLs and calldata in messages, stacks and their own members.
      serializers: { err: (error: Error) => mapTexts(stdSerializers.err(error), redact) },
      // This hook masks the secrets in every line that is written.
      hooks: { streamWrite: hide },
    },
    destination ?? openStandardOutput(),
  );
}

function openStandardOutput(): DestinationStream {
  const output = pino.destination(STANDARD_OUTPUT_OPTIONS);
  process.once('exit', () => {
    try {
      output.flushSync();
    } catch {
      // EPIPE: the reader of the log has closed the pipe.
    }
  });
  return output;
}

/** Returns the parts of path, query and user info that may be keys: long parts with a digit. */
function findKeys(url: string): string[] {
  const { pathname, search, username, password } = new URL(url);
  const parts = [...pathname.split('/'), ...search.split(/[?&=]/), username, password];
  return parts.filter((part) => isLongEnough(part) && /\d/.test(part));
}

function isLongEnough(secret: string): boolean {
  return secret.length >= MIN_SECRET_LENGTH;
}

/** Maps every string in an error that pino serialised. */
function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_ERROR_DEPTH) return SECRET_MASK;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, change, depth + 1)]),
  );
}
