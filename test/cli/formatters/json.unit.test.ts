import { expect, test } from 'vitest';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { HOSTILE, printable, RESULTS } from '../printable.ts';

const TIMING = { gatherMs: 90.4, judgeMs: 12.6, totalMs: 103, requests: 9, roundTrips: 4 };

test('JSON has the members and the order of a report of the service, and adds subScores', () => {
  const text = FORMATS.json(printable());
  expect(text.endsWith('}\n')).toBe(true);
  const report = JSON.parse(text);
  expect(report).toEqual({
    origin: 'https://api.example.com',
    grade: 'F',
    score: 0,
    subScores: { protocol: 0, docs: 88, standing: null },
    cache: 'miss',
    checksVersion: '2026-08-14.2',
    scannedAt: '2026-08-20T12:00:00.000Z',
    payableBy: null,
    payability: [],
    clients: [],
    otherWays: [],
    advice: [],
    indexed: [],
    results: RESULTS,
  });
  expect(Object.keys(report.results[0])).toEqual([
    'id',
    'title',
    'category',
    'severity',
    'status',
    'basis',
    'outcome',
    'evidence',
    'fix',
  ]);
});

test('JSON has only the printed results, and keeps evidence unchanged', () => {
  const scan = printable({ printed: [HOSTILE] });
  expect(JSON.parse(FORMATS.json(scan)).results).toEqual([HOSTILE]);
});

test('JSON has the timing in whole milliseconds if it was requested', () => {
  expect(JSON.parse(FORMATS.json(printable({ timing: TIMING }))).timing).toEqual({
    gatherMs: 90,
    judgeMs: 13,
    totalMs: 103,
    requests: 9,
    roundTrips: 4,
  });
});
