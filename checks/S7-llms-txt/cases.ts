import type { CheckCase } from '#check';
import {
  answer,
  asked,
  failure,
  html,
  LLMS_TXT,
  NOT_FOUND,
} from '../../test/fixtures/observations/build-observations.ts';

function withText(body: string, type = 'text/plain; charset=utf-8'): CheckCase['seen'] {
  return { llmsTxt: asked('/llms.txt', answer(200, body, { 'content-type': type })) };
}

const PAGE = '<!doctype html><html><body>Our app</body></html>';

const CUT_BODY = answer(200, '', {}, { bodyFailure: 'timeout' });

const cases: readonly CheckCase[] = [
  {
    name: '/llms.txt is not answered in time',
    seen: { llmsTxt: failure('timeout') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['GET /llms.txt', 'timeout'] },
  },
  {
    name: 'the body of every path breaks off',
    seen: { llmsTxt: asked('/llms.txt', CUT_BODY), soft404: asked('/d3b07384', CUT_BODY) },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['broke off (timeout)'] },
  },
  {
    name: '/llms.txt answers 404',
    seen: { llmsTxt: asked('/llms.txt', NOT_FOUND) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['404'] },
  },
  {
    name: '/llms.txt and a random path have the same text',
    seen: {
      llmsTxt: asked('/llms.txt', answer(200, 'Welcome')),
      soft404: asked('/d3b07384-no-such-page', answer(200, 'Welcome')),
    },
    expect: { status: 'fail', outcome: 'soft-404', evidence: ['/llms.txt'] },
  },
  {
    name: 'a random path has the same text, with status 404',
    seen: {
      ...withText(LLMS_TXT),
      soft404: asked('/d3b07384-no-such-page', answer(404, LLMS_TXT)),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: '/llms.txt is an HTML page',
    seen: { llmsTxt: asked('/llms.txt', html(200, PAGE)) },
    expect: { status: 'fail', outcome: 'html', evidence: ['/llms.txt'] },
  },
  {
    name: 'the text has no heading',
    seen: withText('Seller of weather\n'),
    expect: { status: 'fail', outcome: 'no-h1', evidence: ['starts with "Seller of weather"'] },
  },
  {
    name: 'the text is empty',
    seen: withText(''),
    expect: { status: 'fail', outcome: 'no-h1', evidence: ['starts with ""'] },
  },
  {
    name: 'the H1 is not the first block',
    seen: withText('Some text.\n\n# Seller\n\n> Weather\n'),
    expect: { status: 'fail', outcome: 'no-h1' },
  },
  {
    name: 'the first block is an H2',
    seen: withText('## Seller\n\n> Weather\n'),
    expect: { status: 'fail', outcome: 'no-h1' },
  },
  {
    name: 'the text has no summary',
    seen: withText('# Seller\n\n## API\n\n- [Weather](/weather)\n'),
    expect: { status: 'warn', outcome: 'no-summary', evidence: ['"Seller"'] },
  },
  {
    name: 'the only list has a bare address',
    seen: withText('# Seller\n\n> Weather\n\n## API\n\n- https://seller.example/weather\n'),
    expect: { status: 'warn', outcome: 'no-links', evidence: ['"Seller"'] },
  },
  {
    name: 'the only links are outside any H2 section',
    seen: withText('# Seller\n\n> Weather\n\n- [Weather](/weather)\n'),
    expect: { status: 'warn', outcome: 'no-links' },
  },
  {
    name: 'the text has name, summary and links',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['"Seller" and 1 list of links'] },
  },
  {
    name: 'the only link is an autolink, and the type is text/markdown',
    seen: withText(
      '# Seller\n\n> Weather\n\n## API\n\n- <https://seller.example/weather>\n',
      'text/markdown',
    ),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: '/llms.txt is longer than the scan reads',
    seen: { llmsTxt: asked('/llms.txt', answer(200, LLMS_TXT, {}, { truncated: true })) },
    expect: { status: 'pass', outcome: 'complete', evidence: ['"Seller"'] },
  },
  {
    name: '/llms.txt is longer than the scan reads, and the part that was read has no title',
    seen: { llmsTxt: asked('/llms.txt', answer(200, 'Weather\n# Sel', {}, { truncated: true })) },
    expect: { status: 'fail', outcome: 'no-h1' },
  },
  {
    name: '/llms.txt answers 429',
    seen: { llmsTxt: answer(429, 'Slow down') },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['GET /llms.txt: 429'] },
  },
];

export default cases;
