import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Saturated, ScannerFailed } from '../errors/errors.ts';
import { NetworkDown } from '../guard/failures.ts';
import type { Origin, OriginPolicy } from '../guard/origin.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import type { CreateProbeClient, ProbeClient, ProbeClientOptions } from '../probe/client/client.ts';

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
/** Strangers cause these requests for nothing, so each name is asked once. */
const FREE_LIMITS = { maxDnsTries: 1 };

/** The origin's answer at `TOKEN_PATH`. `detail` quotes no text of the origin. */
export type ServedToken =
  | { readonly kind: 'served'; readonly text: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly detail: string };

export type UnusableReason = 'unreachable' | 'redirected' | 'wrong_status' | 'too_large';

export type FetchedToken = ServedToken & {
  /** Processor time of TLS handshakes. */
  readonly handshakeMs?: number;
};

/** Requests the token from an origin, at addresses that `admit` allows. Throws ScannerFailed if the fault is ours. */
export type FetchToken = (origin: Origin, admit: AdmitAddresses) => Promise<FetchedToken>;

export type TokenFetcherOptions = {
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  /** The client may run on this thread or on another. */
  readonly createClient: CreateProbeClient;
} & Pick<ProbeClientOptions, 'resolver' | 'extraCa' | 'connect'>;

/** The fetcher sends one guarded GET, and follows no redirect. It reads at most 512 bytes, and takes at most 10 s. */
export function createTokenFetcher({ createClient, ...options }: TokenFetcherOptions): FetchToken {
  return async (origin, admit) => {
    const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
    const client = createClient({ ...options, signal, limits: FREE_LIMITS });
    try {
      const resolved = await client.resolveOrigin(origin);
      if (resolved.kind === 'our-fault') throw new NetworkDown(resolved.detail);
      // A refused host gets the same result as a host without an address, so that callers cannot find private names.
      if (resolved.kind !== 'addresses') return toUnusable('unreachable', 'no answer (dns)');
      if (!(await admit(resolved.addresses))) throw new Saturated();
      const served = await readTokenFile(client, origin);
      return { ...served, handshakeMs: client.stats().handshakeMs };
    } catch (error) {
      if (error instanceof NetworkDown) throw new ScannerFailed(error);
      throw error;
    } finally {
      client.close();
    }
  };
}

async function readTokenFile(client: ProbeClient, origin: Origin): Promise<ServedToken> {
  const answer = await client.request({
    origin,
    method: 'GET',
    path: TOKEN_PATH,
    accept: 'text/plain',
    capBytes: MAX_TOKEN_BYTES,
    redirects: 'none',
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
