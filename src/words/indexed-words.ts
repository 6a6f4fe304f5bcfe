/** Formats index rows for people, one line each; the lines quote origins and indexes. */
import type { IndexedReason, IndexedReasonCode, IndexedRow, IndexName } from '../model/indexed.ts';

export const INDEX_NAMES: Readonly<Record<IndexName, string>> = {
  bazaar: 'Bazaar',
  x402scan: 'x402scan',
};

const SETTLE_ONCE =
  'one settlement through the CDP facilitator brings the listing back; to prove it before: pay-test T15';

/** The step that mends each reason. */
export const INDEXED_STEPS: Readonly<Record<IndexedReasonCode, string>> = {
  not_registered: 'register the resource at https://www.x402scan.com/resources/register',
  no_settlement_seen:
    'pay it once through the CDP facilitator: a listing follows a settlement; to prove it before: pay-test T15',
  other_facilitator: 'settle through the CDP facilitator: the Bazaar lists only what that settles',
  no_bazaar_extension: 'declare the bazaar extension with declareDiscoveryExtension',
  doubly_wrapped:
    'set extensions to what declareDiscoveryExtension returns: it has the member bazaar',
  invalid_bazaar_extension: 'give an input example that its own schema accepts',
  body_only: 'send the challenge in the PAYMENT-REQUIRED header',
  v1_only: 'answer with version 2 of x402',
  validates_before_challenging: 'answer 402 before you validate input',
  description_over_500: 'cut the description to 500 characters',
  under_minimum: 'ask for at least 0.001 USD',
  testnet_only: 'offer a main network too',
  resource_url_elsewhere: 'state a resource URL on the requested host',
  recipient_changes:
    'keep one recipient: what pays a fresh one for each request is never catalogued',
  lapsing: SETTLE_ONCE,
  lapsed: SETTLE_ONCE,
};

const NO_REASON = 'no reason that can be seen from outside';

export function formatIndexedRow(row: IndexedRow): string {
  const steps = row.reasons.map((reason) => {
    const { seen, step } = formatIndexedReason(reason);
    return `${seen}: ${step}`;
  });
  return [formatIndexedState(row), ...steps].join('; ');
}

/** The state of a row, without its reasons. */
export function formatIndexedState({ state, listedAs, differences, reasons }: IndexedRow): string {
  const at = listedAs === null ? '' : ` as ${listedAs}`;
  switch (state) {
    case 'listed':
      return `listed${at}`;
    case 'listed_elsewhere':
      return `listed elsewhere${at}`;
    case 'unknown':
      return 'unknown: the index did not say';
    case 'differs': {
      const fields = differences.map(
        ({ field, live, indexed }) => `${field} ${live}, not ${indexed}`,
      );
      return `differs${at}: ${fields.join('; ')}`;
    }
    case 'not_listed':
      return reasons.length === 0 ? `not listed; ${NO_REASON}` : 'not listed';
  }
}

/** The reason in words, and the step that mends it. */
export function formatIndexedReason({ code, evidence, check }: IndexedReason) {
  const judged = check === null ? '' : `, ${check}`;
  return {
    seen: `${code.replaceAll('_', ' ')} (${evidence}${judged})`,
    step: INDEXED_STEPS[code],
  };
}

/** False when no index was asked or answered. */
export function isWorthShowing(rows: readonly IndexedRow[]): boolean {
  return rows.some(({ state }) => state !== 'unknown');
}
