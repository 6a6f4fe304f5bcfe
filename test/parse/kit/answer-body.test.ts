/** The soft-404 control decides whether two answers are the same page. */
import { describe, expect, test } from 'vitest';
import { createBodyComparison } from '../../../src/parse/kit/answer-body.ts';
import { answer, ORIGIN } from '../../fixtures/observations/build-answers.ts';

const RANDOM_PATH = '/d3b07384d113edec49eaa623';
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
    expect(isSame(one, page(RANDOM_PATH, around(RANDOM_PATH)))).toBe(true);
    expect(
      isSame(page('/openapi.json', around('/other')), page(RANDOM_PATH, around(RANDOM_PATH))),
    ).toBe(false);
  });

  test('if both are long and begin alike', () => {
    const isSame = createBodyComparison();
    const long = (path: string, end: string) =>
      page(path, around(path) + 'x'.repeat(100 * KIB) + end);
    expect(isSame(long('/openapi.json', 'a'), long(RANDOM_PATH, 'b'))).toBe(true);
    expect(isSame(long('/openapi.json', ''), page(RANDOM_PATH, around(RANDOM_PATH)))).toBe(false);
    expect(isSame(long('/openapi.json', ''), page(RANDOM_PATH, ''))).toBe(false);
  });

  test('only if neither is an error', () => {
    const isSame = createBodyComparison();
    expect(isSame(page('/a', 'same', 404), page(RANDOM_PATH, 'same', 404))).toBe(false);
    expect(isSame(page('/a', 'same'), page(RANDOM_PATH, 'same'))).toBe(true);
  });
});

describe('a body that only repeats beginnings of its path', () => {
  test.each([255, 1_990, 2_040])('is compared in negligible time: %i characters', (length) => {
    const path = `/ab${'a'.repeat(length - 2)}`;
    const answers = Array.from({ length: 30 }, () => page(path, 'a'.repeat(2_048 * KIB)));
    const control = page(RANDOM_PATH, `${'a'.repeat(1_024 * KIB)}b`);
    const isSame = createBodyComparison();
    const before = process.threadCpuUsage();
    for (const one of answers) isSame(one, control);
    const { user } = process.threadCpuUsage(before);
    // A search through the whole body takes longer than a second.
    expect(user / 1_000_000).toBeLessThan(5);
  });
});
