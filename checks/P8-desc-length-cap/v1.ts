/** P8: descriptions are short enough for facilitators to take. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  pass,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { Challenge } from '../../src/parse/x402/challenge.ts';

/** The CDP facilitator refuses payments whose description has 501 (x402 issues 2284, 2832). */
const MAX_CODE_POINTS = 500;

const OUTCOMES = {
  'too-long': fail('Shorten the description of the route to at most 500 characters.'),
  missing: warn('Give each paid route a description: what it returns, in one sentence.'),
  'short-enough': pass('Stay within 500 characters.'),
};

export default defineCheck({
  id: 'P8',
  version: 1,
  says: {
    right: 'Each challenge says what is sold, in at most 500 characters.',
    wrong: 'Some challenges do not say what is sold, or say it at too great a length.',
  },
  needs: ['resources'],
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      ({ reading }) => inspect(reading.challenge),
      (count, challenged) => {
        const lengths = challenged.map(({ reading }) => lengthOf(reading.challenge));
        return ['short-enough', `${count}, the longest has ${Math.max(...lengths)}`];
      },
    );
  },
});

function inspect(challenge: Challenge): readonly Found<keyof typeof OUTCOMES>[] {
  const pointer = challenge.version === 1 ? '/accepts/0/description' : '/resource/description';
  const length = lengthOf(challenge);
  if (length > MAX_CODE_POINTS) {
    return [['too-long', `${pointer}: ${length} characters, ${MAX_CODE_POINTS} are taken`]];
  }
  return length === 0 ? [['missing', `${pointer}: missing or empty`]] : [];
}

/** Raw, as facilitators measure it: no trimming, no normal form. */
function lengthOf({ description }: Challenge): number {
  return Array.from(description ?? '').length;
}
