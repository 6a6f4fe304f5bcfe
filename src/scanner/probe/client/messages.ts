import { OriginRefused, OurFault, type RefusalReason } from '../../guard/failures.ts';
import type { Origin } from '../../guard/origin.ts';
import type { Resolution } from '../../guard/resolve.ts';
import { messageOf } from '../../model/redact.ts';
import type { Serialized } from '../../parse/json/transfer.ts';
import type { ProbeClientOptions, ProbeRequest, ProbeStats } from './client.ts';

/** Options without resolver, connector and clock, because functions cannot be sent to another thread. */
export type SendableOptions = Pick<
  ProbeClientOptions,
  'policy' | 'userAgent' | 'extraCa' | 'limits'
>;

/** Calls to the thread that runs the clients of all scans. `client` is the number of one client. */
export type ProbeCalls = {
  open(client: number, options: SendableOptions): void;
  /** Returns an observation. Its long texts are in shared memory, so the serving thread need not read them. */
  request(client: number, request: ProbeRequest): Promise<ClientAnswer<Serialized>>;
  resolveOrigin(client: number, origin: Origin): Promise<ClientAnswer<Resolution>>;
  /** Ends the client's open requests, because the scan ran out of time. */
  expire(client: number): void;
  close(client: number): void;
};

export type ClientAnswer<T> = { readonly stats: ProbeStats } & (
  | { readonly value: T }
  | { readonly fault: ClientFault }
);

/** Messages that the thread sends unasked. */
export type ProbeNotice =
  /** Sent once, when the thread has loaded its modules. */
  | { readonly kind: 'ready' }
  /** Sent when the texts of all scans become too long for a further scan, and when they no longer are. */
  | { readonly kind: 'saturated'; readonly isSaturated: boolean }
  | { readonly kind: 'error'; readonly error: string };

/** Counts of a client that has sent no request yet. */
export const NO_STATS: ProbeStats = {
  requests: 0,
  bytes: 0,
  sockets: 0,
  roundTrips: 0,
  handshakeMs: 0,
};

/** An error of a client as plain data, because its class is lost between threads. */
export type ClientFault =
  | { readonly name: 'OriginRefused'; readonly reason: RefusalReason; readonly message: string }
  | { readonly name: 'OurFault'; readonly detail: string; readonly remedy: string }
  | { readonly name: 'other'; readonly message: string };

export function toFault(error: unknown): ClientFault {
  if (error instanceof OriginRefused) {
    return { name: 'OriginRefused', reason: error.reason, message: error.message };
  }
  if (error instanceof OurFault) {
    return { name: 'OurFault', detail: error.detail, remedy: error.remedy };
  }
  return { name: 'other', message: messageOf(error) };
}

export function toError(fault: ClientFault): Error {
  if (fault.name === 'OriginRefused') return new OriginRefused(fault.reason, fault.message);
  if (fault.name === 'OurFault') return new OurFault(fault.detail, fault.remedy);
  return new Error(fault.message);
}
