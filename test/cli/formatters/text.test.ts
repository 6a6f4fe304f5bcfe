import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatText } from '../../../src/cli/formatters/text.ts';
import {
  FAILED,
  HOSTILE,
  OPEN,
  PASSED,
  printable,
  result,
  UNEVALUATED,
  WARNED,
} from '../printable.ts';

const LONG = result('P6', {
  status: 'warn',
  evidence: 'one two three four five six seven eight nine ten '.repeat(8).trim(),
  fix: 'Do this and that and then the other thing, and all of it before the week is over.',
});

describe('the report as text', () => {
  test('has the answer on top, then the grade, failures first, what nobody determined last, then passes', () => {
    const printed = [OPEN, PASSED, WARNED, FAILED];
    expect(formatText(printable({ printed }))).toBe(
      [
        '',
        '  Not known: api.example.com refuses connections.',
        '',
        '  F  0/100  https://api.example.com',
        '  Protocol 0 · Docs 88 · Standing not determined',
        '  1 failed, 1 warned, 1 passed, 1 not determined · checks 2026-08-14.2 · 2026-08-20T12:00:00.000Z',
        '',
        '  FAIL P1 Check p1 (check-p1, critical)',
        '    seen  GET /: connection refused',
        '    do    Start the server.',
        '',
        '  WARN S7 Check s7 (check-s7, minor)',
        '    seen  no ">" line below "# A"',
        '    do    Add a summary.',
        '',
        '  PASS',
        '    S1 Check s1 (check-s1)  GET /s1: 200',
        '',
        '  NOT DETERMINED D1 Check d1 (check-d1): x402scan was not asked: offline (0 requests)',
        '',
      ].join('\n'),
    );
  });

  test('gives the reason once for all checks that were not evaluated for it', () => {
    const alike = { ...UNEVALUATED, id: 'S1', title: 'check-s1' };
    const other = {
      ...UNEVALUATED,
      id: 'S2',
      title: 'check-s2',
      evidence: 'Not evaluated, see S1',
    };
    const failed = { ...FAILED, id: 'P3', title: 'check-p3', evidence: UNEVALUATED.evidence };
    const text = formatText(printable({ printed: [UNEVALUATED, failed, alike, other] }));
    expect(text.split('\n').slice(7).join('\n')).toBe(`\
  FAIL P2 Check p2 (check-p2, major, not evaluated)
  FAIL S1 Check s1 (check-s1, major, not evaluated)
    seen  Not evaluated, see P1: connection refused
    do    Correct what P1 names.

  FAIL P3 Check p3 (check-p3, critical)
    seen  Not evaluated, see P1: connection refused
    do    Start the server.

  FAIL S2 Check s2 (check-s2, major, not evaluated)
    seen  Not evaluated, see S1
    do    Correct what P1 names.

`);
  });

  test('says which budgets were used up', () => {
    const { report, ...rest } = printable({ printed: [FAILED] });
    expect(formatText({ report, ...rest })).not.toContain('Not judged');
    const spent = formatText({
      report: { ...report, exhausted: ['origin', 'standing'] },
      ...rest,
    });
    expect(spent.replaceAll(/\s+/g, ' ')).toMatch(
      /Not judged: its documents take .* Not judged: what third parties say .* FAIL P1/,
    );
  });

  test('has no list of passes where nothing passed', () => {
    expect(formatText(printable({ printed: [FAILED] }))).not.toContain('PASS');
  });

  test('is coloured where asked, and the same without the colours', () => {
    const scan = printable({ printed: [FAILED, WARNED, PASSED] });
    const painted = formatText({ ...scan, colour: true });
    expect(painted).toContain('\u001b[31m');
    expect(stripVTControlCharacters(painted)).toBe(formatText(scan));
    expect(stripVTControlCharacters(formatText(scan))).toBe(formatText(scan));
  });

  test.each([40, 60, 80, 100])('is wrapped to %i columns, and loses no word', (columns) => {
    const printed = [LONG, { ...LONG, status: 'pass' as const }];
    const text = formatText(printable({ printed, columns }));
    const body = text.split('\n').slice(7);
    for (const line of body) expect(line.length).toBeLessThanOrEqual(columns);
    expect(text.match(/ten/g)).toHaveLength(16);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(LONG.evidence);
  });

  test.each([
    [10, 40],
    [1_000, 110],
  ])('at %i columns is laid out for %i', (columns, expected) => {
    const scan = printable({ printed: [LONG] });
    expect(formatText({ ...scan, columns })).toBe(formatText({ ...scan, columns: expected }));
  });

  test('leaves a word that is too long in one piece', () => {
    const word = `/${'a'.repeat(60)}`;
    const text = formatText(printable({ printed: [{ ...FAILED, evidence: word }], columns: 40 }));
    expect(text).toContain(`    seen  ${word}\n`);
  });

  test('shows evidence as it is', () => {
    expect(formatText(printable({ printed: [HOSTILE], columns: 110 }))).toContain('</failure>]]>');
  });
});
