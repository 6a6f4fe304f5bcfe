/** Callers who pay nothing choose the reports that are compared, so the work must not grow with a square. */
import { describe, expect, test } from 'vitest';
import {
  type ComparedReport,
  findRegressions,
  listDifferences,
} from '../../../src/scanner/report/compare-reports.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const cell = (id: string, status = 'pass') => ({ id, title: 'a-check', status, outcome: 'seen' });

function report(results: ComparedReport['results']): ComparedReport {
  return {
    origin: 'https://api.example.com',
    grade: 'A',
    score: 100,
    checksVersion: '2026-08-14.2',
    scannedAt: '2026-09-01T12:00:00.000Z',
    results,
  };
}

/** Counts how often the id of any result is read. */
function countIdReads(results: ComparedReport['results']) {
  let reads = 0;
  const counted = results.map((one) => ({
    ...one,
    get id() {
      reads += 1;
      return one.id;
    },
  }));
  return { counted, count: () => reads };
}

describe('a comparison', () => {
  test('reads each result a few times, however many there are', () => {
    for (const size of [25, 200]) {
      const ids = Array.from({ length: size }, (_, n) => `X${n}`);
      const before = countIdReads(ids.map((id) => cell(id)));
      const after = countIdReads(ids.map((id) => cell(id, 'fail')));
      const reports = [report(before.counted), report(after.counted)] as const;
      expect(listDifferences(...reports)).toHaveLength(size + 3);
      expect(findRegressions(...reports)).toHaveLength(size);
      expect((before.count() + after.count()) / size).toBeLessThan(20);
    }
  });

  test('takes the first result of an id that stands twice', () => {
    const before = report([cell('P1'), cell('P1', 'fail')]);
    const after = report([cell('P1', 'warn'), cell('P1')]);
    expect(listDifferences(before, after)[3]).toContain('pass (seen) -> warn (seen)');
    expect(findRegressions(before, report([cell('P1', 'warn')]))).toEqual(['P1 pass -> warn']);
  });
});

test.each([
  [200, false],
  [201, true],
])('the tool diff_reports takes %i results a side or refuses them', async (size, isRefused) => {
  await using service = await startApp();
  const results = Array.from({ length: size }, (_, n) => cell(`X${n}`));
  const answer = await service.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: 'application/json, text/event-stream' },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'diff_reports',
        arguments: { before: report([]), after: report(results) },
      },
    },
  });
  expect(answer.json().result).toMatchObject(isRefused ? { isError: true } : {});
  expect(answer.json().result.isError ?? false).toBe(isRefused);
});
