/** P8: descriptions are short enough for facilitators to accept. Rule and sources: README.md. */
import { defineCheck, type Found, fail, notDetermined, pass, warn, worstOf } from '#check';
import type { Kit } from '#kit';
import type { Challenge } from '#parse/challenge';
import type { JsonValue } from '#parse/json';

/** The CDP facilitator refuses a payment with a longer description (x402 issues 2284, 2832). */
const MAX_CODE_POINTS = 500;

const OTHER_PLACES = ['/description', '/accepts/0/description'];
const MOVE_FIX = 'Move the description into resource: version 2 is read there.';

const OUTCOMES = {
  'too-long': fail('Shorten the description of the route to at most 500 characters.'),
  missing: warn('Give each paid route a description: what it returns, in one sentence.'),
  'no-offer': notDetermined('Correct what P3 names first.'),
  'short-enough': pass('Keep each description within 500 characters.'),
};

export default defineCheck({
  id: 'P8',
  version: 1,
  says: {
    right: 'Each challenge says what is sold, in at most 500 characters.',
    wrong: 'Some challenges do not say what is sold, or their description is too long.',
    unjudged: 'It is not known whether the challenges say what is sold.',
  },
  needs: ['resources'],
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      ({ reading }) => kit.inCopy(reading, inspect(reading.challenge, kit)),
      (count, challenged) => {
        const lengths = challenged.map(({ reading }) => findLongest(reading.challenge, kit).length);
        const evidence = `${count} describe what they sell; the longest description has ${Math.max(...lengths)} characters`;
        return ['short-enough', evidence];
      },
      [
        [
          'no-offer',
          (challenge) => findNoOffer(challenge, kit),
          'without an offer that can be read',
        ],
      ],
    );
  },
});

/** Only version 1 has its descriptions in the offers. */
function findNoOffer(challenge: Challenge, kit: Kit): string | null {
  return challenge.version === 1 ? kit.noOffer(challenge) : null;
}

function inspect(challenge: Challenge, kit: Kit): readonly Found<keyof typeof OUTCOMES>[] {
  const { pointer, length } = findLongest(challenge, kit);
  if (length > MAX_CODE_POINTS) {
    return [
      ['too-long', `${pointer} has ${length} characters; facilitators accept ${MAX_CODE_POINTS}`],
    ];
  }
  if (length > 0) return [];
  // Some sellers of version 2 describe the resource at the top, or in the offer, as version 1 does.
  const hasText = (place: string) => countCodePoints(kit.at(challenge.value, place)) > 0;
  const other = challenge.version === 1 ? undefined : OTHER_PLACES.find(hasText);
  if (other === undefined) return [['missing', `${pointer} is missing or empty`]];
  return [['missing', `${pointer} is missing or empty, and ${other} has a text`, MOVE_FIX]];
}

type Description = { readonly pointer: string; readonly length: number };

/** Version 1 has a description in each offer, and a buyer may take any offer. */
function findLongest({ version, value, description }: Challenge, kit: Kit): Description {
  if (version === 2)
    return { pointer: '/resource/description', length: countCodePoints(description) };
  const descriptions = kit.list(value['accepts']).map((entry, index) => ({
    pointer: `/accepts/${index}/description`,
    length: countCodePoints(kit.object(entry)['description']),
  }));
  const [longest] = descriptions.toSorted((a, b) => b.length - a.length);
  return longest ?? { pointer: '/accepts/0/description', length: 0 };
}

/** Facilitators count the text as it is, without trimming or normalising it. */
function countCodePoints(description: JsonValue | undefined): number {
  return typeof description === 'string' ? Array.from(description).length : 0;
}
