/** D2: the index has looked at this origin lately. Rule: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import type { IndexedResource } from '../../src/model/observations.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';

const DAY_MS = 86_400_000;
const FRESH_DAYS = 30;
const STALE_DAYS = 90;

const FIX =
  'Have x402scan read the resources anew: register them again at x402scan.com/resources/register.';

export default defineCheck({
  id: 'D2',
  version: 1,
  needs: ['x402scan'],
  requires: [],
  outcomes: ['not-registered', 'undated', 'all-stale', 'some-stale', 'fresh'],

  evaluate({ x402scan }) {
    if (x402scan.state === 'off') {
      return notDetermined('offline', `x402scan was not asked: ${x402scan.why} (0 requests)`, FIX);
    }
    if (x402scan.state === 'failed') {
      return notDetermined(
        'unseen',
        `${x402scan.source}: ${x402scan.detail} (0 good answers)`,
        FIX,
      );
    }
    const { resources } = x402scan.data;
    const asOf = `as of ${x402scan.asOf} (${Math.floor(x402scan.ageSec / 3600)} h old)`;
    if (resources.length === 0) {
      return warn('not-registered', `x402scan has 0 resources of this origin, ${asOf}`, FIX);
    }
    // Windows end when the index was asked: an outage later moves no verdict.
    const ages = resources
      .map((one) => ageDays(one, x402scan.asOf))
      .filter((days) => days !== null);
    if (ages.length === 0) {
      return warn(
        'undated',
        `${resources.length} resources on x402scan, none with a date, ${asOf}`,
        FIX,
      );
    }
    const [youngest, oldest] = [Math.min(...ages), Math.max(...ages)];
    const count = `${resources.length} resources on x402scan`;
    if (youngest > STALE_DAYS) {
      return fail('all-stale', `${count}, updated ${days(youngest)} ago or longer, ${asOf}`, FIX);
    }
    if (oldest > FRESH_DAYS || ages.length < resources.length) {
      return warn(
        'some-stale',
        `${count}, updated ${days(youngest)} to ${days(oldest)} ago, ${asOf}`,
        FIX,
      );
    }
    return pass('fresh', `${count}, updated at most ${days(oldest)} ago, ${asOf}`, KEEP);
  },
});

const KEEP = 'Keep answering 402 so that the index keeps the resources fresh.';

function ageDays({ lastUpdated }: IndexedResource, asOf: string): number | null {
  const ageMs = Date.parse(asOf) - Date.parse(lastUpdated ?? '');
  return Number.isNaN(ageMs) ? null : Math.max(0, ageMs / DAY_MS);
}

function days(count: number): string {
  return `${Math.floor(count * 10) / 10} days`;
}
