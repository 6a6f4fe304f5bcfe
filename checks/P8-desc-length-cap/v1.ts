/** P8: descriptions that facilitators take. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';

/** The CDP facilitator refuses payments whose description has 501 (x402 issues 2284, 2832). */
const MAX_CODE_POINTS = 500;
const SHORTEN_FIX = 'Shorten the description of the route to at most 500 characters.';
const DESCRIBE_FIX = 'Give each paid route a description: what it returns, in one sentence.';

const P2_FIX = 'Correct what P2 names first.';

export default defineCheck({
  id: 'P8',
  version: 1,
  needs: ['resources'],
  requires: ['P1', 'P2'],
  outcomes: ['too-long', 'missing', 'short-enough'],

  evaluate({ resources }, kit) {
    const challenged = kit.challenged(resources);
    const count = `${challenged.length} of ${resources.probed.length} resources`;
    if (challenged.length === 0) {
      return notDetermined('unseen', `${count} challenged by what we may send`, P2_FIX);
    }
    const measured = challenged.map(({ resource, probe, reading: { challenge } }) => ({
      request: kit.request(probe.method, resource.path),
      pointer: challenge.version === 1 ? '/accepts/0/description' : '/resource/description',
      // Raw, as facilitators measure it: no trimming, no normal form.
      length: Array.from(challenge.description ?? '').length,
    }));
    const long = measured.filter(({ length }) => length > MAX_CODE_POINTS);
    if (long.length > 0) {
      const list = long.map(({ request, pointer, length }) => `${request} ${pointer}: ${length}`);
      const evidence = `${list.slice(0, 4).join('; ')} characters, ${MAX_CODE_POINTS} are taken`;
      return fail('too-long', evidence, SHORTEN_FIX);
    }
    const bare = measured.filter(({ length }) => length === 0);
    if (bare.length > 0) {
      const list = bare.map(({ request, pointer }) => `${request} ${pointer}`);
      return warn('missing', `missing or empty: ${list.slice(0, 4).join('; ')}`, DESCRIBE_FIX);
    }
    const longest = Math.max(...measured.map(({ length }) => length));
    return pass(
      'short-enough',
      `${count}, the longest has ${longest}`,
      'Stay within 500 characters.',
    );
  },
});
