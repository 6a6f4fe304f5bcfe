/** The soft-404 control decides whether two answers are the same page. */
import { describe, expect, test } from 'vitest';
import { createBodyComparison } from '../../../../src/scanner/parse/kit/read-document.ts';
import { answer, ORIGIN } from '../../../fixtures/observations/build-answers.ts';

const RANDOM_PATH = '/d3b07384d113edec49eaa623';
const KIB = 1024;

function page(path: string, body: string) {
  return answer(200, body, {}, { url: ORIGIN + path });
}

test('two long answers are the same page if they have the same beginning', () => {
  const isSame = createBodyComparison();
  const repeatPath = (path: string) =>
    `<p>Nothing at ${path}, see ${encodeURIComponent(path.slice(1))}</p>`;
  const longPage = (path: string, end: string) =>
    page(path, repeatPath(path) + 'x'.repeat(100 * KIB) + end);
  const long = longPage('/openapi.json', 'a');
  expect(isSame(long, longPage(RANDOM_PATH, 'b'))).toBe(true);
  expect(isSame(long, page(RANDOM_PATH, repeatPath(RANDOM_PATH)))).toBe(false);
  expect(isSame(long, page(RANDOM_PATH, ''))).toBe(false);
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
