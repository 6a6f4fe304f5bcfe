import { describe, expect, test } from 'vitest';
import { formatPayTest } from '../../../src/cli/formatters/pay-test.ts';
import type { PayTestReport, TrialResult } from '../../../src/cli/pay-test/result.ts';
import { readXml } from './read-xml.ts';

const HOSTILE = '200 "<b>" | [x](http://evil.example) ##vso[task.complete]\n::error::forged';

function trial(id: TrialResult['id'], status: TrialResult['status'], more = {}): TrialResult {
  return {
    id,
    title: 'replay',
    status,
    evidence: 'seen',
    fix: 'Mend it.',
    route: 'GET /w',
    ...more,
  };
}

const REPORT: PayTestReport = {
  target: 'http://127.0.0.1:3000',
  facilitator: 'http://127.0.0.1:4000',
  routes: [{ method: 'GET', path: '/w' }],
  trials: [
    trial('T1', 'pass', { title: 'pays-and-delivers' }),
    trial('T7', 'fail', { evidence: HOSTILE }),
    trial('T11', 'warn', { title: 'paths' }),
    trial('T14', 'not_run', { title: 'failed-work', evidence: 'name a route', route: null }),
  ],
  summary: { pass: 1, warn: 1, fail: 1, not_run: 1, delivers: true, gifts: 1, tested: 1 },
};
const ANSWER =
  'Takes money and delivers: yes. Gives away for nothing: 1 way. Routes tested: 1 of 1.';

describe('the report of a pay-test', () => {
  test('as text: prints the answer, the counts, and the trials with the worst first', () => {
    const lines = formatPayTest({ ...REPORT, trials: REPORT.trials.slice(2) }, 'text').split('\n');
    expect(lines).toEqual([
      ANSWER,
      'http://127.0.0.1:3000: 1 failed, 1 warned, 1 passed, 1 not run',
      '',
      'WARN    T11 paths, GET /w: seen. Do: Mend it.',
      'NOT RUN T14 failed-work: name a route.',
      '',
    ]);
  });

  test.each([
    [0, false, 'Takes money and delivers: no. Gives away for nothing: no way. Routes'],
    [2, true, 'Takes money and delivers: yes. Gives away for nothing: 2 ways. Routes'],
  ])(
    'with %d gifts (unpaid deliveries) and delivers: %s says "%s"',
    (gifts, delivers, sentence) => {
      const summary = { ...REPORT.summary, gifts, delivers };
      expect(formatPayTest({ ...REPORT, summary }, 'text')).toContain(sentence);
    },
  );

  test('says that nothing was tested if no trial was judged, with one line for the route', () => {
    const evidence = 'not paid: GET /w: answers 500 instead of 402';
    const trials = (['T1', 'T2', 'T7'] as const).map((id) => trial(id, 'not_run', { evidence }));
    const summary = { ...REPORT.summary, delivers: false, gifts: 0, tested: 0 };
    const lines = formatPayTest({ ...REPORT, trials, summary }, 'text').split('\n');
    expect(lines[0]).toBe('Nothing was tested.');
    expect(lines.slice(3)).toEqual([`NOT RUN ${evidence}.`, '']);
  });

  test('calls no seller sound whose routes were not paid', () => {
    const trials = [trial('T1', 'not_run'), trial('T11', 'pass'), trial('T12', 'pass')];
    const summary = { ...REPORT.summary, delivers: false, gifts: 0, tested: 0 };
    expect(formatPayTest({ ...REPORT, trials, summary }, 'text').split('\n')[0]).toBe(
      'Takes money and delivers: not tested. Gives away for nothing: not tested. Routes tested: 0 of 1.',
    );
  });

  test('as JSON: prints the report', () => {
    expect(JSON.parse(formatPayTest(REPORT, 'json'))).toEqual(REPORT);
  });

  test('as SARIF: has a rule for each trial, a result for each finding', () => {
    const [run] = JSON.parse(formatPayTest(REPORT, 'sarif')).runs;
    expect(run.tool.driver.rules.map((rule: { id: string }) => rule.id)).toEqual(
      REPORT.trials.map(({ id }) => id),
    );
    expect(run.properties.answer).toBe(ANSWER);
    expect(run.results).toMatchObject([
      {
        ruleId: 'T7',
        ruleIndex: 1,
        level: 'error',
        partialFingerprints: { 'trial/v1': 'T7/GET /w' },
      },
      { ruleId: 'T11', ruleIndex: 2, level: 'warning' },
    ]);
  });

  test('as JUnit: has a case for each trial, and skips trials that did not run', () => {
    const text = formatPayTest(REPORT, 'junit');
    expect(text).toContain('<testsuites name="x402 pay-test" tests="4" failures="1" skipped="1">');
    expect(text).toContain('<skipped message="name a route"/>');
    expect(text).toContain('<failure type="T7" message="200 &quot;&lt;b&gt;');
    expect(() => readXml(text)).not.toThrow();
  });

  test('as Markdown: shows the evidence as code', () => {
    const text = formatPayTest(REPORT, 'markdown');
    expect(text.split('\n')[0]).toBe(`**${ANSWER}**`);
    expect(text.split('\n')[4]).toMatch(
      /^\| fail \| T7 replay \| <code>GET \/w<\/code> \| <code>200/,
    );
    expect(text).not.toMatch(/<b>|\[x\]|http:\/\/evil/);
  });

  test('as annotations: has one line for each finding', () => {
    const lines = formatPayTest(REPORT, 'github').trimEnd().split('\n');
    expect(lines.map((line) => line.split('::')[1])).toEqual([
      'error title=T7 replay%2C GET /w',
      'warning title=T11 paths%2C GET /w',
      'notice title=x402 pay-test',
    ]);
  });

  test('as Code Quality: has one violation for each finding, in the README outside a pipeline', () => {
    expect(JSON.parse(formatPayTest(REPORT, 'codequality'))).toMatchObject([
      { check_name: 'x402/T7', severity: 'critical', location: { path: 'README.md' } },
      {
        check_name: 'x402/T11',
        severity: 'minor',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  });

  test.each(['text', 'json', 'sarif', 'junit', 'markdown', 'github', 'codequality'] as const)(
    'as %s: gives no command to the runner of a pipeline',
    (format) => {
      const lines = formatPayTest(REPORT, format).split('\n');
      expect(lines.filter((line) => /^::error::|##vso\[/.test(line))).toEqual([]);
    },
  );
});
