/** The soft-404 control decides whether two answers are the same page. */
import { describe, expect, test } from 'vitest';
import { createBodyComparison } from '../../../src/parse/kit/answer-body.ts';
import { answer, ORIGIN } from '../../fixtures/observations/build-answers.ts';

const RANDOM = '/d3b07384d113edec49eaa623';
const KIB = 1024;

function page(path: string, body: string, status = 200) {
  return answer(status, body, {}, { url: ORIGIN + path });
}

describe('two answers are the same page', () => {
  const around = (path: string) =>
    `<p>Nothing at ${path}, see ${encodeURIComponent(path.slice(1))}</p>`;

  test('if their bodies differ only by the path', () => {
    const isSame = createBodyComparison();
    const one = page('/openapi.json', around('/openapi.json'));
    expect(isSame(one, page(RANDOM, around(RANDOM)))).toBe(true);
    expect(isSame(page('/openapi.json', around('/other')), page(RANDOM, around(RANDOM)))).toBe(
      false,
    );
  });

  test('if both are long and begin alike', () => {
    const isSame = createBodyComparison();
    const long = (path: string, end: string) =>
      page(path, around(path) + 'x'.repeat(100 * KIB) + end);
    expect(isSame(long('/openapi.json', 'a'), long(RANDOM, 'b'))).toBe(true);
    expect(isSame(long('/openapi.json', ''), page(RANDOM, around(RANDOM)))).toBe(false);
    expect(isSame(long('/openapi.json', ''), page(RANDOM, ''))).toBe(false);
  });

  test('only if neither is an error', () => {
    const isSame = createBodyComparison();
    expect(isSame(page('/a', 'same', 404), page(RANDOM, 'same', 404))).toBe(false);
    expect(isSame(page('/a', 'same'), page(RANDOM, 'same'))).toBe(true);
  });
});

describe('a body that only repeats beginnings of its path', () => {
  test.each([255, 1_990, 2_040])('is compared in negligible time: %i characters', (length) => {
    const path = `/ab${'a'.repeat(length - 2)}`;
    const answers = Array.from({ length: 30 }, () => page(path, 'a'.repeat(2_048 * KIB)));
    const control = page(RANDOM, `${'a'.repeat(1_024 * KIB)}b`);
    const isSame = createBodyComparison();
    const before = process.threadCpuUsage();
    for (const one of answers) isSame(one, control);
    const { user } = process.threadCpuUsage(before);
    // A search through the whole body takes longer than a second.
    expect(user / 1_000_000).toBeLessThan(5);
  });
});
