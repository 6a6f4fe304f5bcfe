import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatText } from '../../../src/cli/formatters/text.ts';
import {
  FAILED,
  HOSTILE,
  PASSED,
  printable,
  result,
  UNDETERMINED,
  UNEVALUATED,
  WARNED,
} from '../printable.ts';

const LONG_RESULT = result('P6', {
  status: 'warn',
  evidence: 'one two three four five six seven eight nine ten '.repeat(8).trim(),
  fix: 'Do this and that and then the other thing, and all of it before the week is over.',
});

describe('the report as text', () => {
  test('prints the answer, the grade, failures, undetermined checks, then passes', () => {
    const printed = [UNDETERMINED, PASSED, WARNED, FAILED];
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

  test('prints no two blank lines in a row if nothing passed', () => {
    const text = formatText(printable({ printed: [UNDETERMINED, FAILED] }));
    expect(text).toContain('NOT DETERMINED');
    expect(text).not.toContain('\n\n\n');
  });

  test('prints one SKIP line for all checks that were not evaluated because of one check', () => {
    const unevaluated = (cause: string, ids: readonly string[]) =>
      ids.map((id) => ({ ...UNEVALUATED, id, evidence: `Not evaluated, see ${cause}: refused` }));
    const unevaluatedByP1 = unevaluated('P1', ['P2', 'P3', 'P4', 'S1', 'S2', 'S4']);
    const oneCause = formatText(printable({ printed: [FAILED, ...unevaluatedByP1, PASSED] }));
    expect(oneCause).toContain(
      '\n  1 failed, 6 not evaluated because of it, 0 warned, 1 passed · ',
    );
    expect(oneCause.split('\n').slice(7, 13).join('\n')).toBe(`\
  FAIL P1 Check p1 (check-p1, critical)
    seen  GET /: connection refused
    do    Start the server.

  SKIP P2 to P4, S1, S2, S4: not evaluated because of P1
`);
    const failedS1 = { ...FAILED, id: 'S1', title: 'check-s1' };
    const resultsOfTwoCauses = [
      FAILED,
      ...unevaluated('P1', ['P2']),
      failedS1,
      ...unevaluated('S1', ['S2', 'S3']),
    ];
    const twoCauses = formatText(printable({ printed: resultsOfTwoCauses }));
    expect(twoCauses).toContain(
      '\n  2 failed, 1 not evaluated because of P1, 2 not evaluated because of S1, 0 warned',
    );
    expect(twoCauses).toContain('\n  SKIP P2: not evaluated because of P1\n');
    expect(twoCauses).toContain('\n  SKIP S2, S3: not evaluated because of S1\n');
  });

  test('prints no SKIP line for a fault of ours and a check that depends on the faulty check', () => {
    const fault = {
      ...UNEVALUATED,
      id: 'P1',
      outcome: 'fault',
      evidence: 'Not evaluated, and the fault is ours: this check broke',
    };
    const text = formatText(printable({ printed: [fault, UNEVALUATED] }));
    expect(text).toContain('\n  2 failed, 0 warned');
    expect(text).toContain('FAIL P2 Check p2 (check-p2, major, not evaluated)');
    expect(text).not.toContain('SKIP');
  });

  test('names the checks that --offline left out in one line', () => {
    const undetermined = ['D1', 'D2', 'D3', 'D4', 'D5'].map((id) => ({
      ...UNDETERMINED,
      id,
      evidence: `index of ${id}: not asked, offline (0 requests)`,
    }));
    const text = formatText(printable({ printed: [PASSED, ...undetermined] }));
    expect(text).toMatch(/\n\n {2}Not checked because of --offline: D1 to D5\n$/);
    expect(text).not.toContain('NOT DETERMINED');
    const fewUndetermined = undetermined.filter(({ id }) => id !== 'D3');
    expect(formatText(printable({ printed: fewUndetermined }))).toContain(
      '--offline: D1, D2, D4, D5\n',
    );
  });

  test('names the parts that were not judged because a budget was used up', () => {
    const { report, ...rest } = printable({ printed: [FAILED] });
    expect(formatText({ report, ...rest })).not.toContain('Not judged');
    const exhausted = formatText({
      report: { ...report, exhausted: ['origin', 'standing'] },
      ...rest,
    });
    expect(exhausted.replaceAll(/\s+/g, ' ')).toMatch(
      /Not judged: its documents take .* Not judged: the answers of third parties .* FAIL P1/,
    );
  });

  test('has no list of passes if nothing passed', () => {
    expect(formatText(printable({ printed: [FAILED] }))).not.toContain('PASS');
  });

  test('is coloured on request, with the same text', () => {
    const scan = printable({ printed: [FAILED, WARNED, PASSED] });
    const coloured = formatText({ ...scan, hasColours: true });
    expect(coloured).toContain('\u001b[31m');
    expect(stripVTControlCharacters(coloured)).toBe(formatText(scan));
    expect(stripVTControlCharacters(formatText(scan))).toBe(formatText(scan));
  });

  test.each([40, 60, 80, 100])('wraps to %i columns, and loses no word', (columns) => {
    const printed = [LONG_RESULT, { ...LONG_RESULT, status: 'pass' as const }];
    const text = formatText(printable({ printed, columns }));
    const body = text.split('\n').slice(7);
    for (const line of body) expect(line.length).toBeLessThanOrEqual(columns);
    expect(text.match(/ten/g)).toHaveLength(16);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(LONG_RESULT.evidence);
  });

  test.each([
    [10, 40],
    [1_000, 110],
  ])('in a terminal of %i columns is laid out for %i columns', (columns, expected) => {
    const scan = printable({ printed: [LONG_RESULT] });
    expect(formatText({ ...scan, columns })).toBe(formatText({ ...scan, columns: expected }));
  });

  test('does not break a word that is longer than a line', () => {
    const word = `/${'a'.repeat(60)}`;
    const text = formatText(printable({ printed: [{ ...FAILED, evidence: word }], columns: 40 }));
    expect(text).toContain(`    seen  ${word}\n`);
  });

  test('shows evidence unchanged', () => {
    expect(formatText(printable({ printed: [HOSTILE], columns: 110 }))).toContain('</failure>]]>');
  });
});
