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

function createTable(
  impl: string,
  origin: string,
  value: string,
  recording = 'sha256:1',
): GoldenTable {
  return {
    recordings: { [origin]: recording },
    cells: { '2026-01-01.1': { [impl]: { [origin]: value } } },
  };
}

const isPinned = () => true;

test('a table is equal to itself', () => {
  expect(tableChanges(GOLDEN, structuredClone(GOLDEN))).toEqual([]);
});

test('a cell that moves without a new version is refused, and the message names the remedy', () => {
  const currentTable = createTable('P6@1', 'shop', 'fail mismatch');
  const changes = tableChanges(GOLDEN, currentTable);
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
  expect(forbiddenChanges(GOLDEN, currentTable, isPinned)).toEqual(changes);
});

test('a cell that is not pinned may move', () => {
  const currentTable = createTable('P6@1', 'shop', 'fail mismatch');
  expect(forbiddenChanges(GOLDEN, currentTable, () => false)).toEqual([]);
});

test.each([
  ['a new version', createTable('P6@2', 'shop', 'fail mismatch')],
  ['another origin', createTable('P6@1', 'store', 'fail mismatch')],
  ['another recording of the origin', createTable('P6@1', 'shop', 'fail mismatch', 'sha256:2')],
])('%s adds cells, which is allowed', (_, currentTable) => {
  expect(tableChanges(GOLDEN, currentTable)).not.toEqual([]);
  expect(forbiddenChanges(GOLDEN, currentTable, isPinned)).toEqual([]);
});
