/** Pipelines read GitHub's workflow commands, GitLab's Code Quality and SARIF's locations. */
import { expect, test } from 'vitest';
import { FORMATS } from '../../../src/cli/formatters/formats.ts';
import { FAILED, HOSTILE, PASSED, printable, result, UNDETERMINED, WARNED } from '../printable.ts';

const location = { file: 'docs/open,api.json', line: 7 };
const locate = ({ id }: { id: string }) => (id === 'S7' ? location : null);

test('GitHub gets an annotation for each finding, at its line if a source is given, and one for the grade', () => {
  const text = FORMATS.github(
    printable({ printed: [FAILED, PASSED, WARNED, UNDETERMINED], locate }),
  );
  expect(text.split('\n')).toEqual([
    '::error title=P1 check-p1::GET /: connection refused. Start the server.',
    '::warning file=docs/open%2Capi.json,line=7,title=S7 check-s7::no ">" line below "# A". Add a summary.',
    '::notice title=x402 conformance::https://api.example.com: grade F, 0/100. Not known: api.example.com refuses connections.',
    '',
  ]);
});

test('evidence in an annotation cannot begin a command', () => {
  const hostile = result('P3', { status: 'fail', evidence: 'a\n::set-output name=x::1\r100%' });
  const lines = FORMATS.github(printable({ printed: [hostile] }))
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('a%0A: :set-output name=x::1%0D100%25');
});

test('each finding is a Code Quality violation, with a fingerprint that does not depend on its evidence', () => {
  const printed = [FAILED, PASSED, WARNED, UNDETERMINED, HOSTILE];
  const violations = JSON.parse(FORMATS.codequality(printable({ printed, locate })));
  expect(violations).toHaveLength(3);
  expect(violations[0]).toEqual({
    description: 'P1 check-p1: GET /: connection refused. Start the server.',
    check_name: 'x402/P1',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    severity: 'critical',
    location: { path: 'README.md', lines: { begin: 1 } },
  });
  expect(violations[1]).toMatchObject({
    severity: 'info',
    location: { path: 'docs/open,api.json', lines: { begin: 7 } },
  });
  const changedFailure = { ...FAILED, evidence: 'GET /: connection reset' };
  const [violation] = JSON.parse(FORMATS.codequality(printable({ printed: [changedFailure] })));
  expect(violation.fingerprint).toBe(violations[0].fingerprint);
});

test('SARIF names file and region if a source is given, else the first line of the README', () => {
  const { runs } = JSON.parse(FORMATS.sarif(printable({ printed: [FAILED, WARNED], locate })));
  expect(runs[0].results.map(({ locations }: { locations: unknown[] }) => locations[0])).toEqual([
    { physicalLocation: { artifactLocation: { uri: 'README.md' }, region: { startLine: 1 } } },
    {
      physicalLocation: {
        artifactLocation: { uri: 'docs/open%2Capi.json' },
        region: { startLine: 7 },
      },
    },
  ]);
});
