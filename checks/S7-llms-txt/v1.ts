/** S7: agents can read at /llms.txt what is sold here. Rule and sources: README.md. */
import { defineCheck, documentOutcomes, fail, pass, passageFix, warn } from '#check';

const FIX =
  'Serve /llms.txt as Markdown: "# Name", "> summary", then "## Section" with a list of links.';

/** Site generators put front matter or a comment before the title. */
const MOVE_FIX = 'Make "# Name" the first line of /llms.txt: move what stands before it.';
const LATER_H1 = /^# +\S/m;

const OUTCOMES = {
  ...documentOutcomes(FIX),
  'no-h1': fail(FIX),
  'no-summary': warn(FIX),
  'no-links': warn(FIX),
  complete: pass('Keep "# Name" as the first line of /llms.txt.'),
};

export default defineCheck({
  id: 'S7',
  version: 1,
  says: {
    right: 'Agents can read at /llms.txt what is sold here.',
    wrong: '/llms.txt does not tell agents what is sold here.',
    unjudged: 'It is not known whether /llms.txt tells agents what is sold here.',
  },
  needs: ['llmsTxt', 'soft404'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ llmsTxt, soft404 }, kit) {
    const reading = kit.textDocument('/llms.txt', llmsTxt, soft404);
    if (reading.state !== 'present') {
      const status = reading.state === 'absent' ? reading.status : null;
      return [reading.state, reading.evidence, passageFix('/llms.txt', status)];
    }

    const { leadH1, summary, linkLists } = kit.markdown(reading.body);
    if (leadH1 === null)
      return [
        'no-h1',
        `/llms.txt has no "# Name" as its first line: it starts with ${kit.quote(reading.body)}`,
        LATER_H1.test(reading.body) ? MOVE_FIX : undefined,
      ];
    const title = kit.quote(leadH1);
    if (summary === null)
      return ['no-summary', `/llms.txt has no summary: no line below ${title} starts with ">"`];
    if (linkLists === 0)
      return ['no-links', `/llms.txt has no "## Section" with links below ${title}`];
    const lists = `${linkLists} ${linkLists === 1 ? 'list' : 'lists'} of links`;
    return ['complete', `/llms.txt has the title ${title} and ${lists}`];
  },
});
