/** A map of at most so many entries, beside a plain model of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/memory/bounded-map.ts';

test('keeps the newest entries in the order in which their keys came, whatever is deleted', () => {
  const step = fc.tuple(fc.constantFrom('set', 'delete'), fc.integer({ min: 0, max: 12 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80 }), (max, steps) => {
      const map = new BoundedMap<number, number>(max);
      let model: [number, number][] = [];
      for (const [n, [what, key]] of steps.entries()) {
        const known = model.find(([held]) => held === key);
        if (what === 'delete') {
          map.delete(key);
          model = model.filter(([held]) => held !== key);
          continue;
        }
        map.set(key, n);
        if (known === undefined) model = [...model, [key, n] as [number, number]].slice(-max);
        else known[1] = n;
      }
      expect([...map.entries()]).toEqual(model);
      expect(map.size).toBe(model.length);
      for (const [key, value] of model) expect(map.get(key)).toBe(value);
    }),
  );
});
