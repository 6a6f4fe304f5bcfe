/** The messages between a run and the processes that hold the store. */
import type { DayWord } from '../../../../src/scanner/model/payability.ts';
import type { Size } from './world.ts';

export type InstanceOptions = {
  readonly size: Size;
  readonly storeUrl: string;
  readonly port: number;
  readonly indexUrl: string;
  readonly listFile: string;
  /** Each scan is noted here, so that no crash loses it. */
  readonly scansFile: string;
  /** Number of hosts in a thousand whose weekly scans are real. */
  readonly realScans: number;
};

export type ToInstance =
  | { readonly kind: 'at'; readonly nowMs: number; readonly isOutage: boolean }
  | { readonly kind: 'tick' }
  | { readonly kind: 'moved'; readonly nowMs: number }
  /** An owner leaves while a request to the host waits for its answer. */
  | { readonly kind: 'leave'; readonly host: string }
  | { readonly kind: 'words'; readonly days: readonly number[] };

export type TellWord = {
  readonly host: string;
  readonly day: number;
  readonly word: DayWord;
};

export type FromInstance =
  | { readonly kind: 'done'; readonly dueMs: number | null }
  | { readonly kind: 'left'; readonly host: string }
  /** The instance waits on the moved clock. */
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      readonly kind: 'words';
      readonly words: readonly TellWord[];
      readonly hosts: readonly string[];
      readonly records: readonly string[];
      /** Number of words that this life of the instance has said. */
      readonly wordCount: number;
      readonly troubles: readonly string[];
    };
