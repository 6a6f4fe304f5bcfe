import { expect, test } from 'vitest';
import type { FailureReason } from '../../src/model/observation.ts';
import type { Observations } from '../../src/model/observations.ts';
import { hasAnswered } from '../../src/scan/finished-scan.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';

test.each<readonly [FailureReason, boolean]>([
  ['dns', false],
  ['refused', false],
  ['reset', false],
  ['timeout', false],
  ['blocked-address', false],
  ['tls-expired', true],
  ['malformed', true],
])('if every request of an origin ends in %s, reached is %s', (reason, reached) => {
  expect(hasAnswered(silent(reason))).toBe(reached);
});

test('one answer is enough, whatever its status', () => {
  const seen = silent('timeout');
  expect(hasAnswered({ ...seen, robots: perfectSeller().robots })).toBe(true);
});

function silent(reason: FailureReason): Observations {
  const failed = { ok: false, reason, detail: '', ms: 1 } as const;
  const seen = perfectSeller();
  return {
    ...seen,
    root: failed,
    soft404: failed,
    openapi: failed,
    openapiAlternates: [],
    manifest: failed,
    manifestJson: failed,
    llmsTxt: failed,
    agentCard: failed,
    agentJson: failed,
    robots: failed,
    resources: { ...seen.resources, probed: [] },
  };
}
