/** Finished scans for the tests of formats. */
import type { PrintableScan } from '../../src/cli/formatters/findings.ts';
import { NO_SOURCES } from '../../src/cli/sources.ts';
import type { CheckResult } from '../../src/scanner/model/report.ts';

export function result(id: string, overrides: Partial<CheckResult> = {}): CheckResult {
  return {
    id,
    title: `check-${id.toLowerCase()}`,
    category: id.startsWith('P') ? 'protocol' : id.startsWith('S') ? 'docs' : 'directory',
    severity: 'major',
    status: 'pass',
    basis: 'measured',
    outcome: 'fine',
    evidence: `GET /${id.toLowerCase()}: 200`,
    fix: `Keep ${id} as it is.`,
    ...overrides,
  };
}

export const FAILED = result('P1', {
  severity: 'critical',
  status: 'fail',
  outcome: 'refused',
  evidence: 'GET /: connection refused',
  fix: 'Start the server.',
});
export const UNEVALUATED = result('P2', {
  status: 'fail',
  basis: 'not_evaluated',
  outcome: 'prerequisite-failed',
  evidence: 'Not evaluated, see P1: connection refused',
  fix: 'Correct what P1 names.',
});
export const WARNED = result('S7', {
  severity: 'minor',
  status: 'warn',
  outcome: 'no-summary',
  evidence: 'no ">" line below "# A"',
  fix: 'Add a summary.',
});
export const UNDETERMINED = result('D1', {
  status: 'warn',
  basis: 'not_determined',
  outcome: 'offline',
  evidence: 'x402scan was not asked: offline (0 requests)',
  fix: 'Register the origin.',
});
export const PASSED = result('S1');
/** Its evidence has markup of each output format, and no character that we remove. */
export const HOSTILE = result('P3', {
  status: 'fail',
  outcome: 'wrong',
  evidence:
    "\"</failure>]]><script>alert(1)</script> & 'x' | `a` ``b`` [x](javascript:1) ![i](https://e.example/p) @team #12 https://evil.example/?a=1&b=2 <!-- **b** _i_ \\| 😀",
  fix: 'Serve "a" & <b> | c.',
});

export const RESULTS = [FAILED, UNEVALUATED, PASSED, WARNED, UNDETERMINED];

export function printable(overrides: Partial<PrintableScan> = {}): PrintableScan {
  const results = overrides.printed ?? RESULTS;
  return {
    report: {
      origin: 'https://api.example.com',
      grade: 'F',
      score: 0,
      subScores: { protocol: 0, docs: 88, standing: null },
      indexed: [],
      checksVersion: '2026-08-14.2',
      scannedAt: '2026-08-20T12:00:00.000Z',
      payability: [],
      payableBy: null,
      clients: [],
      otherWays: [],
      advice: [],
      results,
    },
    printed: results,
    catalogs: { newest: '2026-08-14.2', service: '2026-08-14.2' },
    rules: new Map([['P1', 'The origin answers over HTTPS.']]),
    timing: null,
    locate: NO_SOURCES.locate,
    repository: { toPath: (file) => file, pipelineFile: null },
    hasColours: false,
    columns: 100,
    ...overrides,
  };
}
