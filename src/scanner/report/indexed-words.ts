/** Formats rows of indexes for people, in one line each. The lines quote origins and indexes. */
import type { IndexedReason, IndexedReasonCode, IndexedRow, IndexName } from '../model/indexed.ts';

export const INDEX_NAMES: Readonly<Record<IndexName, string>> = {
  bazaar: 'Bazaar',
  x402scan: 'x402scan',
};

const SETTLE_ONCE_STEP =
  'one settlement through the CDP facilitator restores the listing; pay-test T15 tests your seller before that';

/** The step that removes each reason. */
export const INDEXED_STEPS: Readonly<Record<IndexedReasonCode, string>> = {
  not_registered: 'register the resource at https://www.x402scan.com/resources/register',
  no_settlement_seen:
    'pay it once through the CDP facilitator, which then lists it; pay-test T15 tests your seller before that',
  other_facilitator:
    'settle through the CDP facilitator: the Bazaar lists only what this facilitator settles',
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
    'keep one recipient: a resource with a new recipient for each request is never listed',
  lapsing: SETTLE_ONCE_STEP,
  lapsed: SETTLE_ONCE_STEP,
};

const NO_VISIBLE_REASON = 'no reason that can be seen from outside';

export function formatIndexedRow(row: IndexedRow): string {
  const steps = row.reasons.map((reason) => {
    const { fault, step } = formatIndexedReason(reason);
    return `${fault}: ${step}`;
  });
  return [formatIndexedState(row), ...steps].join('; ');
}

/** Formats the state of a row, without its reasons. */
export function formatIndexedState({ state, listedAs, differences, reasons }: IndexedRow): string {
  const listedName = listedAs === null ? '' : ` as ${listedAs}`;
  switch (state) {
    case 'listed':
      return `listed${listedName}`;
    case 'listed_elsewhere':
      return `listed elsewhere${listedName}`;
    case 'unknown':
      return 'unknown: the index did not say';
    case 'differs': {
      const fields = differences.map(
        ({ field, live, indexed }) => `${field} ${live}, not ${indexed}`,
      );
      return `differs${listedName}: ${fields.join('; ')}`;
    }
    case 'not_listed':
      return reasons.length === 0 ? `not listed; ${NO_VISIBLE_REASON}` : 'not listed';
  }
}

/** Formats a reason, and the step that removes it. */
export function formatIndexedReason({ code, evidence, check }: IndexedReason) {
  const checkId = check === null ? '' : `, ${check}`;
  return {
    fault: `${code.replaceAll('_', ' ')} (${evidence}${checkId})`,
    step: INDEXED_STEPS[code],
  };
}

/** Returns false if we asked no index, or no index answered. */
export function isWorthShowing(rows: readonly IndexedRow[]): boolean {
  return rows.some(({ state }) => state !== 'unknown');
}
