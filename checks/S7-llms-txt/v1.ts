/** S7: agents can read at /llms.txt what is sold here. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';

const FIX =
  'Serve /llms.txt as Markdown: "# Name", "> summary", then "## Section" with a list of links.';

export default defineCheck({
  id: 'S7',
  version: 1,
  needs: ['llmsTxt', 'soft404'],
  requires: ['P1'],
  outcomes: [
    'unreadable',
    'absent',
    'soft-404',
    'html',
    'oversize',
    'no-h1',
    'no-summary',
    'no-links',
    'complete',
  ],

  evaluate({ llmsTxt, soft404 }, kit) {
    const reading = kit.document('/llms.txt', llmsTxt, soft404);
    if (reading.state !== 'present') return fail(reading.state, reading.evidence, FIX);

    const { leadH1, summary, linkLists } = kit.markdown(reading.body);
    if (leadH1 === null) return fail('no-h1', `/llms.txt starts ${kit.quote(reading.body)}`, FIX);
    const title = kit.quote(leadH1);
    if (summary === null) return warn('no-summary', `/llms.txt: no ">" line below ${title}`, FIX);
    if (linkLists === 0) return warn('no-links', `/llms.txt: no H2 with links below ${title}`, FIX);
    const lists = `${linkLists} ${linkLists === 1 ? 'list' : 'lists'} of links`;
    return pass('complete', `/llms.txt: ${title}, ${lists}`, 'Keep the H1 first in /llms.txt.');
  },
});
