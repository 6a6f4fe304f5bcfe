/** Texts that are kept, and which of them go. */
import { expect, test } from 'vitest';
import { KeptTexts } from '../../src/http/kept-texts.ts';

const NOW = { version: 'v', nowMs: 5 };

test('the least recently asked for go once all together are too long, and come back with another text', () => {
  const kept = new KeptTexts(10);
  const keep = (name: string, text: string) => kept.keep(name, text, { ...NOW, untilMs: 9 });
  keep('a', '1234');
  keep('b', '1234');
  expect(kept.get('a', NOW)).toBe('1234');
  keep('c', '1234');
  expect(kept.get('b', NOW)).toBeNull();
  expect(kept.get('a', NOW)).toBe('1234');
  keep('a', '12');
  keep('d', '1234');
  expect(['a', 'c', 'd'].map((name) => kept.get(name, NOW))).toEqual(['12', '1234', '1234']);
  keep('long', '12345678901');
  expect(['a', 'c', 'd', 'long'].map((name) => kept.get(name, NOW))).toEqual(Array(4).fill(null));
});

test('a text goes with its version and its time, and makes room', () => {
  const kept = new KeptTexts(4);
  kept.keep('a', '1234', { ...NOW, untilMs: 9 });
  expect(kept.get('a', { version: 'v', nowMs: 8 })).toBe('1234');
  expect(kept.get('a', { version: 'v', nowMs: 9 })).toBeNull();
  kept.keep('a', '1234', { ...NOW, untilMs: 9 });
  expect(kept.get('a', { version: 'w', nowMs: 8 })).toBeNull();
  kept.keep('b', '1234', { ...NOW, untilMs: 9 });
  expect(kept.get('b', NOW)).toBe('1234');
  expect(kept.get('b', { version: 'v', nowMs: 4 })).toBeNull();
});
