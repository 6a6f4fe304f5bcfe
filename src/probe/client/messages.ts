import { OriginRefused, type RefusalReason } from '../../guard/errors.ts';
import { ResolverDown } from '../../guard/failures.ts';
import type { Origin } from '../../guard/origin.ts';
import type { Resolution } from '../../guard/resolve.ts';
import type { Serialized } from '../../parse/json/transfer.ts';
import type { ProbeClientOptions, ProbeRequest, ProbeStats } from './client.ts';

/** Without resolver, connector and clock, because functions cannot be sent to another thread. */
export type PlainOptions = Pick<ProbeClientOptions, 'policy' | 'userAgent' | 'extraCa' | 'limits'>;

/** The clients of all scans on the thread of the sockets; `client` is the number of one of them. */
export type ProbeCalls = {
  open(client: number, options: PlainOptions): void;
  /** An observation, long texts in shared memory: the serving thread passes them on unread. */
  request(client: number, request: ProbeRequest): Promise<ClientAnswer<Serialized>>;
  check(client: number, origin: Origin): Promise<ClientAnswer<Resolution>>;
  /** The scan ran out of time. */
  expire(client: number): void;
  close(client: number): void;
};

export type ClientAnswer<T> = { readonly stats: ProbeStats } & (
  | { readonly value: T }
  | { readonly fault: ClientFault }
);

/** News of the thread that belong to no call. */
export type News =
  /** Said once, when all is loaded. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'saturated'; readonly isSaturated: boolean }
  | { readonly kind: 'error'; readonly error: string };

/** The state of a client that has sent no request yet. */
export const NO_STATS: ProbeStats = {
  requests: 0,
  bytes: 0,
  sockets: 0,
  roundTrips: 0,
  handshakeMs: 0,
};

/** An error that a client rejects with; classes do not survive the way between threads. */
export type ClientFault =
  | { readonly name: 'OriginRefused'; readonly reason: RefusalReason; readonly message: string }
  | { readonly name: 'ResolverDown'; readonly detail: string }
  | { readonly name: 'other'; readonly message: string };

export function toFault(error: unknown): ClientFault {
  if (error instanceof OriginRefused) {
    return { name: 'OriginRefused', reason: error.reason, message: error.message };
  }
  if (error instanceof ResolverDown) return { name: 'ResolverDown', detail: error.detail };
  return { name: 'other', message: error instanceof Error ? error.message : String(error) };
}

export function toError(fault: ClientFault): Error {
  if (fault.name === 'OriginRefused') return new OriginRefused(fault.reason, fault.message);
  if (fault.name === 'ResolverDown') return new ResolverDown(fault.detail);
  return new Error(fault.message);
}
