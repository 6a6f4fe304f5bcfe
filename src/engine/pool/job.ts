/** What the host and a worker say to each other. Faults are values: an exception says less. */
import type { Limit } from '../errors.ts';
import type { Packed } from './transfer.ts';

/** `part` is the same number wherever the same observation is sent, so that a worker keeps it. */
export type PackedObservation = {
  readonly name: string;
  readonly part: number;
  readonly value: Packed;
};

type Addressed = {
  /** Names the attempt in the `started` message. */
  readonly ticket: number;
  /** File URL of the module. */
  readonly module: string;
};

export type JudgeJob = Addressed & {
  readonly kind: 'judge';
  readonly scanKey: string;
  readonly seen: readonly PackedObservation[];
};

export type RunJob = Addressed & {
  readonly kind: 'run';
  readonly exportName: string;
  readonly input: Packed;
};

export type Job = JudgeJob | RunJob;

/** Sent when modules are loaded and the work itself begins: from here on the deadline runs. */
export type Started = {
  readonly ticket: number;
  readonly threadId: number;
  /** CPU time of the thread so far, in microseconds. */
  readonly cpu: { readonly user: number; readonly system: number };
};

export type Answer =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'limit'; readonly limit: Limit }
  | { readonly kind: 'fault'; readonly detail: string };

export function isStarted(message: unknown): message is Started {
  return typeof message === 'object' && message !== null && 'ticket' in message;
}
