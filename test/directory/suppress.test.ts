import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Count, shownCount, shownCounts } from '../../src/directory/suppress.ts';

test.each([
  [0, 0],
  [1, null],
  [4, null],
  [5, 5],
  [4_000, 4_000],
])('%i is shown as %s', (count, shown) => {
  expect(shownCount(count)).toBe(shown);
});

test.each<[about: string, counts: Record<string, number>, shown: Record<string, Count>]>([
  ['nothing to hide', { a: 5, b: 0, c: 9 }, { a: 5, b: 0, c: 9 }],
  ['one hides the smallest other one', { a: 50, b: 3, c: 9 }, { a: 50, b: null, c: null }],
  ['never a 0', { a: 50, b: 3, c: 0 }, { a: null, b: null, c: 0 }],
  ['of equals, one', { a: 9, b: 3, c: 9, d: 10 }, { a: null, b: null, c: 9, d: 10 }],
  ['two hide each other', { a: 50, b: 3, c: 4 }, { a: 50, b: null, c: null }],
  ['one with nothing beside it', { a: 0, b: 3 }, { a: 0, b: null }],
  ['nothing at all', { a: 0, b: 0 }, { a: 0, b: 0 }],
  ['no names', {}, {}],
])('%s', (_about, counts, shown) => {
  expect(shownCounts(counts)).toEqual(shown);
});

test('no hidden count follows from the sum of its group', () => {
  const counts = fc.oneof(fc.nat(7), fc.nat(1_000));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), counts, { maxKeys: 8 }), (group) => {
      const shown = shownCounts(group);
      expect(Object.keys(shown)).toEqual(Object.keys(group));
      const sum = Object.values(group).reduce((total, count) => total + count, 0);
      const hidden = Object.entries(shown).filter(([, count]) => count === null);
      for (const [name, count] of Object.entries(shown)) {
        if (count !== null) expect([count, count === 0 || count >= 5]).toEqual([group[name], true]);
      }
      // A sum that is shown leaves one unknown to one hidden count, which is then known.
      if (shownCount(sum) !== null) expect(hidden).not.toHaveLength(1);
      // No more is hidden than that takes.
      const small = Object.values(group).filter((count) => count > 0 && count < 5);
      expect(hidden.length).toBeLessThanOrEqual(Math.max(small.length, small.length === 1 ? 2 : 0));
    }),
  );
});
