/** D4: several payers use this origin. The numbers are about the paid address. Rule: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';

const WINDOW_DAYS = 30;
const MIN_SETTLEMENTS = 10;
const MIN_PAYERS = 3;

const FIX =
  'Win payers: be found (D1), be payable (P2 to P7); 10 settlements of 3 payers in 30 days pass.';

export default defineCheck({
  id: 'D4',
  version: 1,
  needs: ['settlements'],
  requires: [],
  outcomes: ['adopted', 'some', 'short-window', 'none'],

  evaluate({ settlements }, kit) {
    if (settlements.state === 'off') {
      return notDetermined('offline', `nobody was asked: ${settlements.why} (0 requests)`, FIX);
    }
    if (settlements.state === 'failed') {
      return notDetermined('unseen', `${settlements.detail} (0 good answers)`, FIX);
    }
    const { source, asOf, ageSec, data } = settlements;
    const about = data.address === null ? 'this origin' : `the address ${kit.quote(data.address)}`;
    const span = data.windowDays > 0 ? `${data.windowDays} days` : 'a window it does not state';
    const count = `${data.settlements} settlements of ${data.payers} payers in ${span}`;
    const seen = `${count}: ${source} about ${about}, as of ${asOf} (${Math.floor(ageSec / 3600)} h old)`;

    const isEnough = data.settlements >= MIN_SETTLEMENTS && data.payers >= MIN_PAYERS;
    if (isEnough)
      return pass('adopted', seen, 'Keep at least 10 settlements of 3 payers in 30 days.');
    if (data.settlements > 0) return warn('some', seen, FIX);
    if (data.windowDays < WINDOW_DAYS) return warn('short-window', seen, FIX);
    return fail('none', seen, FIX);
  },
});
