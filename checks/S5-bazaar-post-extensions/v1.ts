/** S5 for catalogs that send no POST: counts the POST resources, which it cannot judge. Rule: README.md. */
import { defineCheck, notApplicable, notSeen } from '#check';

const FIX = 'Declare the bazaar extension, with an input example, on each POST route.';

const OUTCOMES = { 'no-post-resource': notApplicable(FIX) };

export default defineCheck({
  id: 'S5',
  version: 1,
  says: {
    right: 'Challenges of POST resources tell marketplaces how to call them.',
    wrong: 'Marketplaces cannot tell from the challenge how to call a POST resource.',
    unjudged: 'It is not known whether marketplaces can tell how to call the POST resources.',
  },
  needs: ['resources'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    const selling = kit.selling(resources);
    const posts = selling.filter((resource) => kit.isPostOnly(resource));
    const [first] = posts;
    if (first === undefined) {
      const unseen = kit.describeUnseen(resources, 'POST');
      if (unseen !== null) return notSeen('unseen', unseen, FIX);
      return ['no-post-resource', `none of ${selling.length} paid resources takes POST`];
    }
    const needs = `${posts.length} resources need one: ${kit.request('POST', first.path)}`;
    return notSeen('unseen', `this catalog sends no POST; ${needs}`, FIX);
  },
});
