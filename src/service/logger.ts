import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { Config } from '../config/config.ts';
import { redact } from '../model/redact.ts';

/** Redacting shorter parts would hide ordinary words; keys are longer. */
const MIN_SECRET_LENGTH = 8;
/**
 * Buffers lines, because one write a line costs a request more than its answer. Flushes at 4 KiB, each
 * second, at a fatal line and at the exit; synchronous, because a pending write is lost with the process.
 */
const STANDARD_OUTPUT = { dest: 1, sync: true, minLength: 4_096, periodicFlush: 1_000 } as const;
const HIDDEN = '(hidden)';

/** The secrets in the settings: keys, and the parts of URLs that may be keys. */
export function listSecrets({ payment }: Pick<Config, 'payment'>): readonly string[] {
  const { rpcUrl, facilitatorUrl, settlementKey, cdpKey } = payment;
  const ofUrls = [rpcUrl, facilitatorUrl].flatMap((url) => (url === null ? [] : keysIn(url)));
  const all = [settlementKey?.slice(2), cdpKey?.id, ...ofUrls];
  return all.filter((secret) => secret !== undefined).filter(isLongEnough);
}

export function createLogger(
  config: Pick<Config, 'logLevel' | 'payment'>,
  destination?: DestinationStream,
): Logger {
  const secrets = listSecrets(config);
  const hide = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  return pino(
    {
      level: config.logLevel,
      // Libraries quote URLs and calldata in messages, stacks and their own members.
      serializers: { err: (error: Error) => mapTexts(stdSerializers.err(error), redact) },
      // The last filter: it covers every way into a line.
      hooks: { streamWrite: hide },
    },
    destination ?? standardOutput(),
  );
}

function standardOutput(): DestinationStream {
  const output = pino.destination(STANDARD_OUTPUT);
  process.once('exit', () => {
    try {
      output.flushSync();
    } catch {
      // EPIPE: the reader of the log has closed the pipe.
    }
  });
  return output;
}

/** Parts of path, query and user info that are long enough to be a key. */
function keysIn(url: string): string[] {
  const { pathname, search, username, password } = new URL(url);
  const parts = [...pathname.split('/'), ...search.split(/[?&=]/), username, password];
  return parts.filter((part) => isLongEnough(part) && /\d/.test(part));
}

function isLongEnough(secret: string): boolean {
  return secret.length >= MIN_SECRET_LENGTH;
}

/** Maps every string in an error that pino serialised: a tree of plain objects and some instances. */
function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 6) return HIDDEN;
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapTexts(one, change, depth + 1)]),
  );
}
