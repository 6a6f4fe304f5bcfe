/** No output holds a command for the runner of a pipeline, and JSON and XML keep their values. */
import { expect, test } from 'vitest';
import { defuseCommands } from '../../../src/cli/formatters/escapes.ts';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { formatMarkdown } from '../../../src/cli/formatters/markdown.ts';
import type { ResourcePayability } from '../../../src/scanner/model/payability.ts';
import type { Advice, CheckResult } from '../../../src/scanner/model/report.ts';
import { PASSED, printable, result, UNDETERMINED } from '../printable.ts';
import { readXml } from './read-xml.ts';

const COMMANDS = [
  '::stop-commands::zzz',
  '##[set-output name=grade]A',
  '##vso[task.setvariable variable=grade]A',
  `##teamcity[buildStatus status='SUCCESS']`,
  '###[error]',
  '##VSO[x]',
];
/** Long text with all commands. For each command there is a width at which it begins a line. */
const COMMAND_TEXT = COMMANDS.flatMap((command) => ['x'.repeat(36), command]).join(' ');
const RUNNER_COMMAND = /^[\s\u0085]*::|##\w*\[/m;

function hostileScan(columns: number, results: readonly CheckResult[]) {
  const payability: ResourcePayability = {
    method: 'GET',
    path: '/##[error]',
    payableBy: 'nobody',
    words: COMMAND_TEXT,
    offers: [
      {
        pointer: '/accepts/0',
        scheme: '##vso[a]',
        network: '##[b]',
        asset: null,
        amount: '::c::',
        client: '@x402/evm',
        verdict: 'refuses',
        words: COMMAND_TEXT,
      },
    ],
  };
  const advice: Advice = {
    id: 'testnet-only',
    evidence: COMMAND_TEXT,
    fix: 'Offer a main network.',
  };
  const scan = printable({ printed: results, columns });
  const report = { ...scan.report, payability: [payability], payableBy: 'nobody' as const };
  return { ...scan, report: { ...report, advice: [advice] } };
}

const RESULTS = [
  result('P3', { status: 'fail', evidence: COMMAND_TEXT }),
  result('S7', { status: 'warn', evidence: `a\n  ${COMMAND_TEXT}` }),
  { ...UNDETERMINED, evidence: COMMAND_TEXT },
  { ...PASSED, evidence: COMMAND_TEXT },
];

test.each(Object.keys(FORMATS).map((name) => [name]))(
  '%s contains no command for the runner',
  (name) => {
    const format = Object.entries(FORMATS).find(([key]) => key === name)?.[1] ?? FORMATS.json;
    for (let columns = 40; columns <= 110; columns += 1) {
      const ownCommands = name === 'github' ? /^::(?:error|warning|notice) [^\n]*$/gm : /$^/g;
      const text = format(hostileScan(columns, RESULTS));
      expect(text.replaceAll(ownCommands, '')).not.toMatch(/^[\s\u0085]*::/m);
      expect(text).not.toMatch(/##\w*\[/);
    }
  },
);

test('JSON, SARIF and JUnit keep the values unchanged', () => {
  const scan = hostileScan(100, RESULTS);
  expect(JSON.parse(FORMATS.json(scan))).toMatchObject({
    results: RESULTS,
    payability: scan.report.payability,
  });
  const { runs } = JSON.parse(FORMATS.sarif(scan));
  expect(runs[0].properties.payability).toEqual(scan.report.payability);
  const [suite] = readXml(FORMATS.junit(scan)).children;
  const [firstCase] = suite?.children.filter(({ name }) => name === 'testcase') ?? [];
  expect(firstCase?.children[0]?.attributes.get('message')).toBe(
    `${COMMAND_TEXT}. Keep P3 as it is.`,
  );
});

test('the answer in Markdown has no mention of a user and no link', () => {
  const { report, ...rest } = hostileScan(100, []);
  const words = '@acme/sec https://evil.example/x www.evil.example a@b.example #12 [x](//y)';
  const payability = report.payability.map((resource) => ({ ...resource, offers: [], words }));
  const [, , line = ''] = formatMarkdown({ ...rest, report: { ...report, payability } }).split(
    '\n',
  );
  expect(line).toMatch(/^\*\*No:\*\* <code>[^<]*<\/code>$/);
  expect(line).toContain('&#64;acme/sec https&#58;//evil.example/x www&#46;evil.example a&#64;b');
});

test('SARIF and Code Quality have no link in a message', () => {
  const hostile = result('P3', { status: 'fail', evidence: '[here](https://evil.example) \\[x]' });
  const escaped = '\\[here\\](https://evil.example) \\\\\\[x\\]';
  const { runs } = JSON.parse(FORMATS.sarif(printable({ printed: [hostile] })));
  expect(runs[0].results[0].message.text).toContain(escaped);
  const [violation] = JSON.parse(FORMATS.codequality(printable({ printed: [hostile] })));
  expect(violation.description).toContain(escaped);
});

test.each([
  ['::a::b', ': :a::b'],
  ['\t \u0085::a::', '\t \u0085: :a::'],
  ['one\r\n\u2003::a::', 'one\r\n\u2003: :a::'],
  [':::a', ': ::a'],
  ['in a line ::a::', 'in a line ::a::'],
  ['####[a]', '### #[a]'],
  ['## heading [a]', '## heading [a]'],
])('%j is printed as %j', (text, printed) => {
  expect(defuseCommands(text)).toBe(printed);
  expect(printed).not.toMatch(RUNNER_COMMAND);
});
