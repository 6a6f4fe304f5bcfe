/** The service's log: pino, and no secret in any line of it. */
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { Config } from '../config/config.ts';
import { redact } from '../model/redact.ts';

/** Shorter ones would blot out words; no key is so short. */
const MIN_SECRET_LENGTH = 8;
/**
 * Lines are written together, as a write each costs a request more than its answer: at 4 KiB, after
 * a second, at a fatal line, and at the exit. In sync, for a write under way is lost with the process.
 */
const STANDARD_OUTPUT = { dest: 1, sync: true, minLength: 4_096, periodicFlush: 1_000 } as const;
const HIDDEN = '(hidden)';

/** What the settings hold that no line may: keys whole, and what of an address can be a key. */
export function secretsOf({ payment }: Pick<Config, 'payment'>): readonly string[] {
  const { rpcUrl, facilitatorUrl, settlementKey, cdpKey } = payment;
  const ofUrls = [rpcUrl, facilitatorUrl].flatMap((url) => (url === null ? [] : keysIn(url)));
  const all = [settlementKey?.slice(2), cdpKey?.id, ...ofUrls];
  return all.filter((secret) => secret !== undefined).filter(isLongEnough);
}

export function createLogger(
  config: Pick<Config, 'logLevel' | 'payment'>,
  destination?: DestinationStream,
): Logger {
  const secrets = secretsOf(config);
  const hide = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  return pino(
    {
      level: config.logLevel,
      // Libraries quote addresses and calldata in messages, stacks, and members of their own.
      serializers: { err: (error: Error) => mapTexts(stdSerializers.err(error), redact) },
      // Whatever way it came into a line.
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
      // A pipe whose reader has gone.
    }
  });
  return output;
}

/** The parts of a path, a query and a user that are long enough to be a key. */
function keysIn(url: string): string[] {
  const { pathname, search, username, password } = new URL(url);
  const parts = [...pathname.split('/'), ...search.split(/[?&=]/), username, password];
  return parts.filter((part) => isLongEnough(part) && /\d/.test(part));
}

function isLongEnough(secret: string): boolean {
  return secret.length >= MIN_SECRET_LENGTH;
}

/** Walks what pino makes of an error: a tree of plain members, with instances here and there. */
function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 6) return HIDDEN;
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapTexts(one, change, depth + 1)]),
  );
}
