/** What can tell settlements: an index by origin, an index or the chain by address. */

import type { SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import type { Origin } from '../origin/origin.ts';
import type { Answer, Asking } from './ask.ts';

/** The window of the standing checks. */
export const WINDOW_DAYS = 30;

export type SettlementQuestion = {
  /** With the source's name, the key of a kept answer: two scans that ask the same share one. */
  readonly key: string;
  ask(asking: Asking): Promise<Answer<SettlementFacts>>;
};

export type SettlementSource = {
  /** For evidence: who answered. */
  readonly name: string;
  /** Null where the source cannot be asked about this origin and these recipients. */
  question(origin: Origin, payees: readonly Payee[]): SettlementQuestion | null;
};
