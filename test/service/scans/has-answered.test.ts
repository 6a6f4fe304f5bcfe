import { expect, test } from 'vitest';
import type { FailureReason } from '../../../src/scanner/model/observation.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import { hasAnswered } from '../../../src/service/scans/finished-scan.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';

test.each<readonly [FailureReason, boolean]>([
  ['dns', false],
  ['refused', false],
  ['reset', false],
  ['timeout', false],
  ['blocked-address', false],
  ['tls-expired', true],
  ['malformed', true],
])('an origin whose requests all end in %s has answered: %s', (reason, expected) => {
  expect(hasAnswered(failEverywhere(reason))).toBe(expected);
});

test('an origin with one answer among its failed requests has answered', () => {
  const observations = failEverywhere('timeout');
  expect(hasAnswered({ ...observations, robots: perfectSeller().robots })).toBe(true);
});

/** Observations of an origin whose requests all fail for this reason. */
function failEverywhere(reason: FailureReason): Observations {
  const failed = { ok: false, reason, detail: '', ms: 1 } as const;
  const perfect = perfectSeller();
  return {
    ...perfect,
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
    resources: { ...perfect.resources, probed: [] },
  };
}
