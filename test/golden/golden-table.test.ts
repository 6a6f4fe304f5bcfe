import { expect, test } from 'vitest';
import {
  explainChanges,
  forbiddenChanges,
  type GoldenTable,
  tableChanges,
} from './golden-table.ts';

const GOLDEN: GoldenTable = {
  recordings: { shop: 'sha256:1' },
  cells: { '2026-01-01.1': { 'P6@1': { shop: 'pass equal' } } },
};

function table(impl: string, origin: string, value: string, recording = 'sha256:1'): GoldenTable {
  return {
    recordings: { [origin]: recording },
    cells: { '2026-01-01.1': { [impl]: { [origin]: value } } },
  };
}

const everyCell = () => true;

test('a table is equal to itself', () => {
  expect(tableChanges(GOLDEN, structuredClone(GOLDEN))).toEqual([]);
});

test('a cell that moves without a new version is refused, and the message names the remedy', () => {
  const now = table('P6@1', 'shop', 'fail mismatch');
  const changes = tableChanges(GOLDEN, now);
  expect(changes).toEqual([
    {
      catalog: '2026-01-01.1',
      impl: 'P6@1',
      origin: 'shop',
      was: 'pass equal',
      is: 'fail mismatch',
    },
  ]);
  expect(explainChanges(changes)).toMatch(/without a new version.*npm run check:revise -- P6$/);
  expect(forbiddenChanges(GOLDEN, now, everyCell)).toEqual(changes);
});

test('an unpublished version may move if the switch allows it', () => {
  const now = table('P6@1', 'shop', 'fail mismatch');
  expect(forbiddenChanges(GOLDEN, now, () => false)).toEqual([]);
});

test.each([
  ['a new version', table('P6@2', 'shop', 'fail mismatch')],
  ['another origin', table('P6@1', 'store', 'fail mismatch')],
  ['another recording of the origin', table('P6@1', 'shop', 'fail mismatch', 'sha256:2')],
])('%s adds cells', (_, now) => {
  expect(tableChanges(GOLDEN, now)).not.toEqual([]);
  expect(forbiddenChanges(GOLDEN, now, everyCell)).toEqual([]);
});
