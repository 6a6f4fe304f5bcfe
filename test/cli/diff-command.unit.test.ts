import { describe, expect, test } from 'vitest';
import { diffCommand } from '../../src/cli/diff-command.ts';
import { FORMATS } from '../../src/cli/formatters/formats.ts';
import type { OtherWay } from '../../src/scanner/model/payability.ts';
import type { CheckResult } from '../../src/scanner/model/report.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';
import { FAILED, PASSED, printable, result, WARNED } from './printable.ts';
import { runCommand } from './run-cli.ts';

const folder = folderPerTest();

const report = (...printed: readonly CheckResult[]) => FORMATS.json(printable({ printed }));

async function diff(...files: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await runCommand(diffCommand, ...files);
  expect(code).toBe(0);
  return stdout.split('\n');
}

describe('diff', () => {
  test('names other ways to pay that were added or removed', async () => {
    const reportWith = (otherWays: readonly OtherWay[]) => {
      const { report, ...rest } = printable({ printed: [PASSED] });
      return FORMATS.json({ ...rest, report: { ...report, otherWays } });
    };
    const mppWay = { method: 'GET', path: '/a', protocol: 'MPP', methods: ['tempo'] } as const;
    const before = await folder.write('a.json', reportWith([mppWay]));
    const after = await folder.write(
      'b.json',
      reportWith([
        { ...mppWay, methods: ['tempo', 'stripe'] },
        { ...mppWay, protocol: 'L402', methods: [] },
      ]),
    );
    const lines = await diff(before, after);
    expect(lines).toContain('  GET /a over MPP: sold by tempo -> sold by tempo, stripe');
    expect(lines).toContain('  GET /a over L402: not there -> sold');
    const { otherWays: _, ...reportOfBefore } = JSON.parse(report(PASSED));
    const older = await folder.write('c.json', JSON.stringify(reportOfBefore));
    expect((await diff(older, after)).join('\n')).not.toContain('L402');
  });

  test('names the checks whose status or outcome changed', async () => {
    const before = await folder.write('a.json', report(FAILED, PASSED, WARNED, result('P8')));
    const fixedP1 = { ...FAILED, status: 'pass', outcome: 'reachable' } as const;
    const changedS7 = { ...WARNED, outcome: 'no-links', evidence: 'other' };
    const after = await folder.write('b.json', report(fixedP1, PASSED, changedS7, result('D1')));
    const header = 'https://api.example.com 2026-08-20T12:00:00.000Z by 2026-08-14.2: F 0';
    expect(await diff(before, after)).toEqual([
      header,
      header,
      '4 moved:',
      '  P1 Check p1 (check-p1): fail (refused) -> pass (reachable)',
      '  S7 Check s7 (check-s7): warn (no-summary) -> warn (no-links)',
      '  P8 Check p8 (check-p8): pass (fine) -> not there',
      '  D1 Check d1 (check-d1): not there -> pass (fine)',
      '',
    ]);
  });

  test('prints "No check moved." if only evidence differs', async () => {
    const before = await folder.write('a.json', report(FAILED));
    const after = await folder.write('b.json', report({ ...FAILED, evidence: 'other words' }));
    expect((await diff(before, after)).at(2)).toBe('No check moved.');
  });

  test('prints no terminal command from a report', async () => {
    const hostile = { ...FAILED, title: '\u001b[2J\u001b[31mx\nP9 forged', outcome: 'o\u202e' };
    const before = await folder.write('a.json', report(FAILED));
    const lines = await diff(before, await folder.write('b.json', report(hostile)));
    expect(lines).toHaveLength(5);
    expect(lines[3]).toBe(
      '  P1 [2J[31mx P9 forged ([2J[31mx P9 forged): fail (refused) -> fail (o)',
    );
  });

  test.each([
    ['a missing file', null, 'cannot be read as JSON'],
    ['a file that is not JSON', '{', 'cannot be read as JSON'],
    ['another format', FORMATS.sarif(printable()), 'no scan report'],
    ['a report without results', '{"origin":"https://a.example"}', 'no scan report'],
  ])('refuses %s', async (_name, text, words) => {
    const good = await folder.write('a.json', report(FAILED));
    const bad = text === null ? folder.at('none.json') : await folder.write('b.json', text);
    await expect(runCommand(diffCommand, good, bad)).rejects.toThrow(words);
  });

  test.each([[[]], [['a.json']], [['a.json', 'b.json', 'c.json']]])(
    'refuses %j, because it needs two files',
    async (files) => {
      await expect(runCommand(diffCommand, ...files)).rejects.toThrow('usage');
    },
  );
});

describe('--fail-on-regression', () => {
  type ReportFields = {
    grade?: string;
    payableBy?: string | null;
    printed?: readonly CheckResult[];
  };
  const saveReport = (name: string, { grade = 'B', payableBy, printed = [PASSED] }: ReportFields) =>
    folder.write(
      name,
      JSON.stringify({
        ...JSON.parse(report(...printed)),
        grade,
        ...(payableBy === undefined ? {} : { payableBy }),
      }),
    );

  async function run(before: ReportFields, after: ReportFields) {
    const files = [await saveReport('a.json', before), await saveReport('b.json', after)];
    const { code, stderr } = await runCommand(diffCommand, ...files, '--fail-on-regression');
    return { code, stderr };
  }

  const failed: CheckResult = { ...PASSED, status: 'fail' };
  const undetermined: CheckResult = { ...PASSED, status: 'warn', basis: 'not_determined' };

  test.each<[string, ReportFields, ReportFields, string]>([
    ['the grade', { grade: 'A' }, { grade: 'B' }, 'grade A -> B'],
    [
      'who can pay',
      { payableBy: 'default' },
      { payableBy: 'settings' },
      'payableBy default -> settings',
    ],
    ['a check', {}, { printed: [failed] }, 'S1 pass -> fail'],
  ])('exits 1 if %s got worse', async (_what, before, after, regression) => {
    expect(await run(before, after)).toEqual({
      code: 1,
      stderr: `--fail-on-regression: ${regression}\n`,
    });
  });

  test.each<[string, ReportFields, ReportFields]>([
    ['nothing changed', {}, {}],
    [
      'all values became better',
      { grade: 'F', payableBy: 'nobody', printed: [failed] },
      { grade: 'A', payableBy: 'default' },
    ],
    ['a check could not be observed any more', {}, { printed: [undetermined] }],
    ['the older report has no payableBy', {}, { payableBy: 'nobody' }],
    ['a check is new', {}, { printed: [PASSED, result('P8', { status: 'fail' })] }],
  ])('exits 0 if %s', async (_what, before, after) => {
    expect(await run(before, after)).toEqual({ code: 0, stderr: '' });
  });
});
