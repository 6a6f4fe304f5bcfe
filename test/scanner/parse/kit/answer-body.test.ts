/** The soft-404 control decides whether two answers are the same page. */
import { describe, expect, test } from 'vitest';
import { createBodyComparison } from '../../../../src/scanner/parse/kit/read-document.ts';
import { answer, ORIGIN } from '../../../fixtures/observations/build-answers.ts';

const RANDOM_PATH = '/d3b07384d113edec49eaa623';
const KIB = 1024;

function page(path: string, body: string, status = 200) {
  return answer(status, body, {}, { url: ORIGIN + path });
}

describe('two answers are the same page', () => {
  const repeatPath = (path: string) =>
    `<p>Nothing at ${path}, see ${encodeURIComponent(path.slice(1))}</p>`;

  test('if their bodies differ only by the path', () => {
    const isSame = createBodyComparison();
    const original = page('/openapi.json', repeatPath('/openapi.json'));
    expect(isSame(original, page(RANDOM_PATH, repeatPath(RANDOM_PATH)))).toBe(true);
    expect(
      isSame(
        page('/openapi.json', repeatPath('/other')),
        page(RANDOM_PATH, repeatPath(RANDOM_PATH)),
      ),
    ).toBe(false);
  });

  test('if the two bodies are long and have the same beginning', () => {
    const isSame = createBodyComparison();
    const longPage = (path: string, end: string) =>
      page(path, repeatPath(path) + 'x'.repeat(100 * KIB) + end);
    expect(isSame(longPage('/openapi.json', 'a'), longPage(RANDOM_PATH, 'b'))).toBe(true);
    expect(isSame(longPage('/openapi.json', ''), page(RANDOM_PATH, repeatPath(RANDOM_PATH)))).toBe(
      false,
    );
    expect(isSame(longPage('/openapi.json', ''), page(RANDOM_PATH, ''))).toBe(false);
  });

  test('only if neither answer is an error', () => {
    const isSame = createBodyComparison();
    expect(isSame(page('/a', 'same', 404), page(RANDOM_PATH, 'same', 404))).toBe(false);
    expect(isSame(page('/a', 'same'), page(RANDOM_PATH, 'same'))).toBe(true);
  });
});

describe('a body that consists of parts of its path', () => {
  test.each([255, 1_990, 2_040])(
    'is compared in less than 5 s, with a path of %i characters',
    (length) => {
      const path = `/ab${'a'.repeat(length - 2)}`;
      const answers = Array.from({ length: 30 }, () => page(path, 'a'.repeat(2_048 * KIB)));
      const control = page(RANDOM_PATH, `${'a'.repeat(1_024 * KIB)}b`);
      const isSame = createBodyComparison();
      const cpuBefore = process.threadCpuUsage();
      for (const candidate of answers) isSame(candidate, control);
      const { user } = process.threadCpuUsage(cpuBefore);
      // A search through the whole body takes longer than a second.
      expect(user / 1_000_000).toBeLessThan(5);
    },
  );
});
