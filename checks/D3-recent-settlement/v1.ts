/** D3: this origin was paid lately. The check never fails, because an index may miss settlements. Rule: README.md. */
import { askedAt, defineCheck, pass, unanswered, warn } from '#check';

const WINDOW_DAYS = 30;

const FIX = 'Settle at least one payment in 30 days; a test purchase of your own counts.';

const OUTCOMES = {
  'not-observed': warn(FIX),
  recent: pass('Keep at least one settlement in 30 days.'),
};

export default defineCheck({
  id: 'D3',
  version: 1,
  says: {
    right: 'Somebody has paid this origin lately.',
    wrong: 'No payment to this origin was seen lately.',
    unjudged: 'It is not known whether somebody has paid this origin lately.',
  },
  needs: ['settlements'],
  requires: [],
  outcomes: OUTCOMES,

  evaluate({ settlements }, kit) {
    if (settlements.state !== 'seen') return unanswered(settlements, 'settlement data', FIX);
    const { source, asOf, data } = settlements;
    const about = data.address === null ? 'this origin' : `the address ${kit.quote(data.address)}`;
    const sourceNote = `${source} about ${about}, ${askedAt(settlements)}`;
    // The age is counted to the time of the source's answer, so that a later outage changes no verdict.
    const days = kit.daysBefore(asOf, data.lastAt);
    if (days !== null && days <= WINDOW_DAYS) {
      return ['recent', `last settlement ${data.lastAt}: ${sourceNote}`];
    }
    const last = data.lastAt === null ? 'no settlement' : `last settlement ${data.lastAt}`;
    const span =
      data.windowDays > 0 ? `${data.windowDays} days` : 'a period that it does not state';
    return ['not-observed', `${last} in ${span}: ${sourceNote}`];
  },
});
