/** D4: several payers use this origin. The numbers belong to the paid address. Rule: README.md. */
import { askedAt, defineCheck, fail, pass, unanswered, warn } from '#check';

const WINDOW_DAYS = 30;
const MIN_SETTLEMENTS = 10;
const MIN_PAYERS = 3;

const FIX =
  'Get more payers: fix D1 and P2 to P7 first. 10 settlements of 3 payers in 30 days pass.';

const OUTCOMES = {
  adopted: pass('Keep at least 10 settlements of 3 payers in 30 days.'),
  some: warn(FIX),
  'short-window': warn(FIX),
  none: fail(FIX),
};

export default defineCheck({
  id: 'D4',
  version: 1,
  says: {
    right: 'Several payers use this origin.',
    wrong: 'Too few payers use this origin.',
    unjudged: 'It is not known how many payers use this origin.',
  },
  needs: ['settlements'],
  requires: [],
  outcomes: OUTCOMES,

  evaluate({ settlements }, kit) {
    if (settlements.state !== 'seen') return unanswered(settlements, 'settlement data', FIX);
    const { source, data } = settlements;
    const about = data.address === null ? 'this origin' : `the address ${kit.quote(data.address)}`;
    const span =
      data.windowDays > 0 ? `${data.windowDays} days` : 'a period that it does not state';
    const counts = `${data.settlements} settlements of ${data.payers} payers in ${span}`;
    const evidence = `${counts}: ${source} about ${about}, ${askedAt(settlements)}`;

    const isEnough = data.settlements >= MIN_SETTLEMENTS && data.payers >= MIN_PAYERS;
    if (isEnough) return ['adopted', evidence];
    if (data.settlements > 0) return ['some', evidence];
    return [data.windowDays < WINDOW_DAYS ? 'short-window' : 'none', evidence];
  },
});
