/** What the host and a worker say to each other. Faults are values: an exception says less. */

import type { Serialized } from '../../parse/json/transfer.ts';
import type { Limit } from '../errors.ts';

/** `part` is the same number wherever the same observation is sent, so that a worker keeps it. */
export type SerializedObservation = {
  readonly name: string;
  readonly part: number;
  readonly value: Serialized;
};

type Ticketed = {
  /** Names the attempt in the `started` message. */
  readonly ticket: number;
};

type Addressed = Ticketed & {
  /** File URL of the module. */
  readonly module: string;
};

type Scanned = {
  readonly scanKey: string;
  readonly seen: readonly SerializedObservation[];
};

export type JudgeJob = Addressed & Scanned & { readonly kind: 'judge' };

/** Checks of one scan in one crossing, which costs more than most of them. Answers the verdicts up to the first failure. */
export type JudgeTogetherJob = Ticketed &
  Scanned & {
    readonly kind: 'judge-together';
    readonly checks: readonly { readonly module: string; readonly needs: readonly string[] }[];
  };

export type RunJob = Addressed & {
  readonly kind: 'run';
  readonly exportName: string;
  readonly input: Serialized;
};

/** Loads what tasks will need, so that the next one does not wait for it. */
export type LoadJob = Ticketed & {
  readonly kind: 'load';
  readonly modules: readonly string[];
};

export type Job = JudgeJob | JudgeTogetherJob | RunJob;

/** File URLs of what the job needs. */
export function modulesOf(job: Job): readonly string[] {
  return job.kind === 'judge-together' ? job.checks.map(({ module }) => module) : [job.module];
}

/** Sent when modules are loaded and the work itself begins: from here on the deadline runs. */
export type Started = Ticketed & {
  readonly kind: 'started';
  /** CPU time of the thread so far, in microseconds; null where Node does not tell. */
  readonly cpu: { readonly user: number; readonly system: number } | null;
};

/** `threw`: the work itself did, on what it was given. `trouble`: the thread, whatever it was given. */
export type Failure =
  | { readonly kind: 'limit'; readonly limit: Limit }
  | { readonly kind: 'threw' | 'trouble'; readonly detail: string };

export type Answer = ({ readonly kind: 'done'; readonly output: unknown } | Failure) & {
  /** CPU time that the work took. */
  readonly cpuMs: number;
};

/** What a thread says of a job. */
export type Said = Started | (Ticketed & { readonly kind: 'answer'; readonly answer: Answer });
