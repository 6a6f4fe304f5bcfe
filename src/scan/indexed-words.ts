/** Formats index rows for people, one line each; the lines quote origins and indexes. */
import type { IndexedRow, IndexName } from '../model/indexed.ts';

export const INDEX_NAMES: Readonly<Record<IndexName, string>> = {
  bazaar: 'Bazaar',
  x402scan: 'x402scan',
};

const NO_REASON = 'no reason that can be seen from outside';

export function indexedWords({ state, listedAs, differences, reasons }: IndexedRow): string {
  const at = listedAs === null ? '' : ` as ${listedAs}`;
  if (state === 'listed') return `listed${at}`;
  if (state === 'listed_elsewhere') return `listed elsewhere${at}`;
  if (state === 'unknown') return 'unknown: the index did not say';
  if (state === 'differs') {
    const fields = differences.map(
      ({ field, live, indexed }) => `${field} ${live}, not ${indexed}`,
    );
    return `differs${at}: ${fields.join('; ')}`;
  }
  if (reasons.length === 0) return `not listed; ${NO_REASON}`;
  const texts = reasons.map(({ code, evidence, check }) => {
    return `${code.replaceAll('_', ' ')} (${evidence}${check === null ? '' : `, ${check}`})`;
  });
  return `not listed: ${texts.join('; ')}`;
}

/** False when no index was asked or answered. */
export function isWorthShowing(rows: readonly IndexedRow[]): boolean {
  return rows.some(({ state }) => state !== 'unknown');
}
