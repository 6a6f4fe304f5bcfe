/** Messages between the serving thread and the thread of the probe. */

import { OriginRefused, type RefusalReason } from '../../guard/errors.ts';
import { ResolverDown } from '../../guard/failures.ts';
import type { Limits } from '../../guard/limits.ts';
import type { Origin, OriginPolicy } from '../../guard/origin.ts';
import type { Resolution } from '../../guard/resolve.ts';
import type { Serialized } from '../../parse/json/transfer.ts';
import type { ProbeRequest, ProbeStats } from './client.ts';

/** Options of a client that can travel: plain data. */
export type TravellingOptions = {
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly extraCa?: readonly string[];
  readonly limits?: Partial<Limits>;
};

/** `client` numbers the client of one scan, `call` one question to it. */
export type ToProbe =
  | { readonly kind: 'open'; readonly client: number; readonly options: TravellingOptions }
  | {
      readonly kind: 'request';
      readonly client: number;
      readonly call: number;
      readonly request: ProbeRequest;
    }
  | {
      readonly kind: 'check';
      readonly client: number;
      readonly call: number;
      readonly origin: Origin;
    }
  /** The scan ran out of time. */
  | { readonly kind: 'expire'; readonly client: number }
  | { readonly kind: 'close'; readonly client: number };

export type CallResult =
  /** An observation, long texts in shared memory: the serving thread passes them on unread. */
  | { readonly kind: 'seen'; readonly seen: Serialized }
  | { readonly kind: 'resolved'; readonly resolution: Resolution }
  | { readonly kind: 'fault'; readonly fault: Fault };

export type FromProbe =
  /** Said once, when all is loaded. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'result';
      readonly client: number;
      readonly call: number;
      readonly result: CallResult;
      readonly stats: ProbeStats;
    }
  | { readonly kind: 'saturated'; readonly isSaturated: boolean }
  /** An error of the thread that belongs to no call. */
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
export type Fault =
  | { readonly name: 'OriginRefused'; readonly reason: RefusalReason; readonly message: string }
  | { readonly name: 'ResolverDown'; readonly detail: string }
  | { readonly name: 'other'; readonly message: string };

export function toFault(error: unknown): Fault {
  if (error instanceof OriginRefused) {
    return { name: 'OriginRefused', reason: error.reason, message: error.message };
  }
  if (error instanceof ResolverDown) return { name: 'ResolverDown', detail: error.detail };
  return { name: 'other', message: error instanceof Error ? error.message : String(error) };
}

export function toError(fault: Fault): Error {
  if (fault.name === 'OriginRefused') return new OriginRefused(fault.reason, fault.message);
  if (fault.name === 'ResolverDown') return new ResolverDown(fault.detail);
  return new Error(fault.message);
}
