import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ResolverDown } from '../guard/failures.ts';
import type { Origin, OriginPolicy } from '../guard/origin.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import { Saturated, ScannerFailed } from '../model/errors.ts';
import type { CreateProbeClient, ProbeClient, ProbeClientOptions } from '../probe/client/client.ts';

const SECRET_BYTES = 32;

/** 256 bits, base64url. Only its hash is stored. */
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
const TOKEN_CAP_BYTES = 512;
const TOKEN_TIMEOUT_MS = 10_000;

/** `text` is the origin's; `detail` quotes none of it. */
export type ServedToken =
  | { readonly kind: 'served'; readonly text: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly detail: string };

export type UnusableReason = 'unreachable' | 'redirected' | 'wrong_status' | 'too_large';

export type FetchedToken = ServedToken & {
  /** Processor time of TLS handshakes. */
  readonly handshakeMs?: number;
};

/** Connects only to addresses that `admit` allows. Throws ScannerFailed if the fault is ours. */
export type FetchToken = (origin: Origin, admit: AdmitAddresses) => Promise<FetchedToken>;

export type TokenFetcherOptions = {
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  /** The client runs on a thread of its own, or on this one. */
  readonly createClient: CreateProbeClient;
} & Pick<ProbeClientOptions, 'resolver' | 'extraCa' | 'connect'>;

/** One guarded GET, redirects not followed, at most 512 bytes, 10 s. */
export function createTokenFetcher({ createClient, ...options }: TokenFetcherOptions): FetchToken {
  return async (origin, admit) => {
    const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
    const client = createClient({ ...options, signal });
    try {
      const resolved = await client.check(origin);
      if (resolved.kind === 'our-fault') throw new ResolverDown(resolved.detail);
      // A refused host is reported like one without an address, so that callers cannot resolve private names.
      if (resolved.kind !== 'addresses') return unusable('unreachable', 'no answer (dns)');
      if (!(await admit(resolved.addresses))) throw new Saturated();
      const served = await readFile(client, origin);
      return { ...served, handshakeMs: client.stats().handshakeMs };
    } catch (error) {
      if (error instanceof ResolverDown) throw new ScannerFailed(error);
      throw error;
    } finally {
      client.close();
    }
  };
}

async function readFile(client: ProbeClient, origin: Origin): Promise<ServedToken> {
  const answer = await client.request({
    origin,
    method: 'GET',
    path: TOKEN_PATH,
    accept: 'text/plain',
    capBytes: TOKEN_CAP_BYTES,
    redirects: 'none',
  });
  if (!answer.ok) return unusable('unreachable', `no answer (${answer.reason})`);
  const { status, body } = answer.data;
  if (status >= 300 && status < 400) return unusable('redirected', `a redirect (${status})`);
  if (status !== 200) return unusable('wrong_status', `status ${status}`);
  if (answer.truncated) return unusable('too_large', `over ${TOKEN_CAP_BYTES} bytes`);
  return { kind: 'served', text: body.trimEnd() };
}

function unusable(reason: UnusableReason, detail: string): ServedToken {
  return { kind: 'unusable', reason, detail };
}
