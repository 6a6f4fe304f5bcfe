/** D3: somebody has paid this origin lately. Never fails: not seen is no proof of none. README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { notDetermined, pass, warn } from '../../src/model/verdict.ts';

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 30;

const FIX = 'Settle at least one payment in 30 days; a test purchase of your own counts.';

export default defineCheck({
  id: 'D3',
  version: 1,
  needs: ['settlements'],
  requires: [],
  outcomes: ['not-observed', 'recent'],

  evaluate({ settlements }, kit) {
    if (settlements.state === 'off') {
      return notDetermined('offline', `nobody was asked: ${settlements.why} (0 requests)`, FIX);
    }
    if (settlements.state === 'failed') {
      return notDetermined('unseen', `${settlements.detail} (0 good answers)`, FIX);
    }
    const { source, asOf, ageSec, data } = settlements;
    const about = data.address === null ? 'this origin' : `the address ${kit.quote(data.address)}`;
    const told = `${source} about ${about}, as of ${asOf} (${Math.floor(ageSec / 3600)} h old)`;
    // The window ends when the source was asked: an outage later moves no verdict.
    const agoMs = Date.parse(asOf) - Date.parse(data.lastAt ?? '');
    if (data.lastAt === null || Number.isNaN(agoMs) || agoMs > WINDOW_DAYS * DAY_MS) {
      const last = data.lastAt === null ? 'no settlement' : `last settlement ${data.lastAt}`;
      const span = data.windowDays > 0 ? `${data.windowDays} days` : 'a window it does not state';
      return warn('not-observed', `${last} in ${span}: ${told}`, FIX);
    }
    return pass(
      'recent',
      `last settlement ${data.lastAt}: ${told}`,
      'Keep at least one settlement in 30 days.',
    );
  },
});
