import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ScannerFailed } from '../errors/errors.ts';
import { OriginRefused } from '../guard/errors.ts';
import { NetworkDown } from '../guard/failures.ts';
import type { Origin } from '../guard/origin.ts';
import type { TurnClient } from '../turns/origin-turns.ts';

const SECRET_BYTES = 32;

/** Creates 256 random bits as base64url. The store keeps only their hash. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Lower-case hex SHA-256. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares hashes in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const TOKEN_PATH = '/.well-known/scanner-challenge';
const MAX_TOKEN_BYTES = 512;
const TOKEN_TIMEOUT_MS = 10_000;

/** The origin's answer at `TOKEN_PATH`. `detail` quotes no text of the origin. */
export type ServedToken =
  | { readonly kind: 'served'; readonly text: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly detail: string };

export type UnusableReason = 'unreachable' | 'redirected' | 'wrong_status' | 'too_large';

/** Requests the file once, and reads at most 512 bytes. Throws NoTurn, and ScannerFailed if the fault is ours. */
export async function fetchToken(
  origin: Origin,
  client: Pick<TurnClient, 'request'>,
): Promise<ServedToken> {
  try {
    return await readTokenFile(origin, client);
  } catch (error) {
    // A refused host gets the same result as a host without an address, so that callers cannot find private names.
    if (error instanceof OriginRefused) return toUnusable('unreachable', 'no answer (dns)');
    if (error instanceof NetworkDown) throw new ScannerFailed(error);
    throw error;
  }
}

async function readTokenFile(
  origin: Origin,
  client: Pick<TurnClient, 'request'>,
): Promise<ServedToken> {
  const answer = await client.request({
    origin,
    method: 'GET',
    path: TOKEN_PATH,
    accept: 'text/plain',
    capBytes: MAX_TOKEN_BYTES,
    redirects: 'none',
    timeoutMs: TOKEN_TIMEOUT_MS,
  });
  if (!answer.ok) return toUnusable('unreachable', `no answer (${answer.reason})`);
  const { status, body } = answer.data;
  if (status >= 300 && status < 400) return toUnusable('redirected', `a redirect (${status})`);
  if (status !== 200) return toUnusable('wrong_status', `status ${status}`);
  if (answer.truncated) return toUnusable('too_large', `over ${MAX_TOKEN_BYTES} bytes`);
  return { kind: 'served', text: body.trimEnd() };
}

function toUnusable(reason: UnusableReason, detail: string): ServedToken {
  return { kind: 'unusable', reason, detail };
}
