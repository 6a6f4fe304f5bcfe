import { expect, test } from 'vitest';
import { findFeedEvents } from '../../../src/service/directory/feeds.ts';
import type { HistoryRow } from '../../../src/service/store/directory.ts';

function row(scannedAtMs: number, more: Partial<HistoryRow> = {}): HistoryRow {
  const scanId = `scan ${scannedAtMs}`;
  const verdict = { grade: 'B', score: 84, payableBy: 'noChallenge' } as const;
  return { scanId, ...verdict, scannedAtMs, checksVersion: '2026-08-14.2', ...more };
}

const listKinds = (firstSeenAtMs: number, history: readonly HistoryRow[]) =>
  findFeedEvents(firstSeenAtMs, history).map(({ kind, atMs }) => `${kind} ${atMs}`);

test('only a changed payability is an event', () => {
  const rows = [
    row(1),
    row(2, { payableBy: 'default' }),
    row(3, { payableBy: 'default' }),
    row(4, { payableBy: 'nobody' }),
  ];
  expect(listKinds(1, rows)).toEqual(['payability 4', 'payability 2', 'first-seen 1']);
});

test('the feed has the first scan even if its history row was deleted', () => {
  expect(listKinds(1, [row(7), row(8, { grade: 'A' })])).toEqual(['grade 8', 'first-seen 1']);
  expect(findFeedEvents(1, [])).toEqual([{ kind: 'first-seen', atMs: 1, text: 'first scan' }]);
});
