/** S5: marketplaces can tell how to call a POST resource; for catalogs without POST. Rule: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { notApplicable, notDetermined } from '../../src/model/verdict.ts';

const FIX = 'Declare the bazaar extension, with an input example, on each POST route.';

export default defineCheck({
  id: 'S5',
  version: 1,
  needs: ['resources'],
  requires: ['P1'],
  outcomes: ['no-post-resource'],

  evaluate({ resources }, kit) {
    const posts = resources.probed.filter((one) => kit.isPostOnly(one));
    if (posts.length === 0) {
      const evidence = `${resources.probed.length} paid resources, none by POST`;
      return notApplicable('no-post-resource', evidence, FIX);
    }
    const [first] = posts;
    const list = first ? kit.request('POST', first.path) : '';
    const evidence = `this catalog sends no POST, which ${posts.length} resources need: ${list}`;
    return notDetermined('unseen', evidence, FIX);
  },
});
