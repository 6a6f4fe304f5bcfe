/** D2: the index has read this origin lately. Rule: README.md. */
import { askedAt, defineCheck, fail, pass, unanswered, warn } from '#check';

const MAX_FRESH_DAYS = 30;
const STALE_AFTER_DAYS = 90;

const FIX =
  'Make x402scan read the resources again: register them again at x402scan.com/resources/register.';

const OUTCOMES = {
  'not-registered': warn(FIX),
  undated: warn(FIX),
  'all-stale': fail(FIX),
  'some-stale': warn(FIX),
  fresh: pass('Keep answering 402 so that the index keeps the resources fresh.'),
};

export default defineCheck({
  id: 'D2',
  version: 1,
  says: {
    right: 'The public index has read this origin lately.',
    wrong: 'The public index has not read this origin lately.',
    unjudged: 'It is not known when the public index last read this origin.',
  },
  needs: ['x402scan'],
  requires: [],
  outcomes: OUTCOMES,

  evaluate({ x402scan }, kit) {
    if (x402scan.state !== 'seen') return unanswered(x402scan, 'x402scan', FIX);
    const { resources } = x402scan.data;
    const asOf = askedAt(x402scan);
    if (resources.length === 0) {
      return ['not-registered', `x402scan has 0 resources of this origin, ${asOf}`];
    }
    // Ages end at the time of the index's answer, so an old answer that is used in an outage keeps its verdict.
    const ages = resources
      .map(({ lastUpdated }) => kit.daysBefore(x402scan.asOf, lastUpdated))
      .filter((days) => days !== null);
    const countText = `${resources.length} resources on x402scan`;
    if (ages.length === 0) return ['undated', `${countText}, none of them with a date, ${asOf}`];
    const [youngest, oldest] = [Math.min(...ages), Math.max(...ages)];
    const undated = resources.length - ages.length;
    if (youngest > STALE_AFTER_DAYS && undated === 0) {
      return ['all-stale', `${countText}, updated ${formatDays(youngest)} ago or longer, ${asOf}`];
    }
    if (oldest > MAX_FRESH_DAYS || undated > 0) {
      const span = `${formatDays(youngest)} to ${formatDays(oldest)} ago`;
      const undatedNote = undated === 0 ? '' : `, ${undated} without a date`;
      return ['some-stale', `${countText}, updated ${span}${undatedNote}, ${asOf}`];
    }
    return ['fresh', `${countText}, updated at most ${formatDays(oldest)} ago, ${asOf}`];
  },
});

function formatDays(days: number): string {
  return `${Math.floor(days * 10) / 10} days`;
}
