/** What the host and the thread of the clients say to each other. */
import type { SeenChallenge, Trial } from './try-challenge.ts';

export type TrialJob = {
  readonly ticket: number;
  readonly seen: SeenChallenge;
  readonly solana: boolean;
};

export type TrialMessage =
  /** The packages could not be loaded: nothing can be tried here. */
  | { readonly kind: 'broken'; readonly detail: string }
  /** The packages are there and the work begins: from here on the deadline runs. */
  | {
      readonly kind: 'started';
      readonly ticket: number;
      readonly cpu: { readonly user: number; readonly system: number };
    }
  | { readonly kind: 'done'; readonly ticket: number; readonly trial: Trial }
  /** The trial threw, which no challenge may make it do: a defect of ours. */
  | { readonly kind: 'fault'; readonly ticket: number; readonly detail: string };
