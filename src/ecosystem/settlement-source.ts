/** What can tell settlements: an index by origin, an index or the chain by address. */
import type { Origin } from '../origin/origin.ts';
import type { SettlementFacts } from '../probe/observations.ts';
import type { Payee } from '../probe/standing.ts';
import type { Answer } from './ask-json.ts';

/** The window of the standing checks. */
export const WINDOW_DAYS = 30;

export type SettlementSource = {
  /** For evidence: who answered. */
  readonly name: string;
  /** What was asked of it; with the recipients, the key of a kept answer. */
  readonly question: string;
  /** Null where the source cannot be asked about this origin and these recipients. */
  ask(origin: Origin, payees: readonly Payee[]): Promise<Answer<SettlementFacts>> | null;
};
