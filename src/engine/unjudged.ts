/** Finds scans in which nobody could be judged to be paid, so that hiding gains nothing. */

import type { OfferPayability } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { findSchemeRow } from '../parse/x402/schemes.ts';

type JudgedReport = Pick<ScanReport, 'payability'> & {
  readonly results: readonly Pick<ScanReport['results'][number], 'id' | 'outcome'>[];
};

/** Outcomes of P2 that say that no challenge could be judged. */
const UNSEEN_OUTCOMES: ReadonlySet<string> = new Set(['rate-limited', 'unread']);

/** True if P2 could not judge a challenge, because answers or documents are not known. */
export function isUnseen({ results }: Pick<JudgedReport, 'results'>): boolean {
  return results.some(({ id, outcome }) => id === 'P2' && UNSEEN_OUTCOMES.has(outcome));
}

/**
 * True if no challenge was judged, or if every offer is paid by another transfer method, or has a scheme or network
 * that this catalog does not know. The score is then capped, and lists of measurements leave the scan out.
 */
export function isUnjudged(report: JudgedReport): boolean {
  const offers = report.payability?.flatMap((resource) => resource.offers) ?? [];
  return isUnseen(report) || (offers.length > 0 && offers.every(isHidden));
}

/** A pair with a row but without a client is judged by its row, or is known by name. */
function isHidden({ scheme, network, verdict }: OfferPayability): boolean {
  if (verdict !== 'unsupported') return false;
  const row = findSchemeRow(scheme ?? undefined, network ?? undefined);
  return row === null || row.client !== null;
}
