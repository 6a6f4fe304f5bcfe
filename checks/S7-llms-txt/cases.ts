import type { CheckCase } from '../../src/engine/define-check.ts';
import {
  answer,
  asked,
  failure,
  html,
  LLMS_TXT,
  NOT_FOUND,
} from '../../test/fixtures/observations/build-observations.ts';

function text(body: string, type = 'text/plain; charset=utf-8'): CheckCase['seen'] {
  return { llmsTxt: asked('/llms.txt', answer(200, body, { 'content-type': type })) };
}

const PAGE = '<!doctype html><html><body>Our app</body></html>';

const BROKEN_OFF = answer(200, '', {}, { bodyFailure: 'timeout' });

const cases: readonly CheckCase[] = [
  {
    name: 'no answer in time',
    seen: { llmsTxt: failure('timeout') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['GET /llms.txt', 'timeout'] },
  },
  {
    name: 'a cut body, on a site that cuts every body',
    seen: { llmsTxt: asked('/llms.txt', BROKEN_OFF), soft404: asked('/d3b07384', BROKEN_OFF) },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['broke off (timeout)'] },
  },
  {
    name: 'not there',
    seen: { llmsTxt: asked('/llms.txt', NOT_FOUND) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['404'] },
  },
  {
    name: 'a catch-all site answers every path with one text',
    seen: {
      llmsTxt: asked('/llms.txt', answer(200, 'Welcome')),
      soft404: asked('/d3b07384-no-such-page', answer(200, 'Welcome')),
    },
    expect: { status: 'fail', outcome: 'soft-404', evidence: ['/llms.txt'] },
  },
  {
    name: 'a 404 page that repeats the path is not a catch-all: the status comes first',
    seen: {
      ...text(LLMS_TXT),
      soft404: asked('/d3b07384-no-such-page', answer(404, LLMS_TXT)),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'a page for people',
    seen: { llmsTxt: asked('/llms.txt', html(200, PAGE)) },
    expect: { status: 'fail', outcome: 'html', evidence: ['/llms.txt'] },
  },
  {
    name: 'text without a heading',
    seen: text('Seller of weather\n'),
    expect: { status: 'fail', outcome: 'no-h1', evidence: ['starts with "Seller of weather"'] },
  },
  {
    name: 'empty',
    seen: text(''),
    expect: { status: 'fail', outcome: 'no-h1', evidence: ['starts with ""'] },
  },
  {
    name: 'the H1 is not the first block',
    seen: text('Some text.\n\n# Seller\n\n> Weather\n'),
    expect: { status: 'fail', outcome: 'no-h1' },
  },
  {
    name: 'an H2 is not an H1',
    seen: text('## Seller\n\n> Weather\n'),
    expect: { status: 'fail', outcome: 'no-h1' },
  },
  {
    name: 'no summary',
    seen: text('# Seller\n\n## API\n\n- [Weather](/weather)\n'),
    expect: { status: 'warn', outcome: 'no-summary', evidence: ['"Seller"'] },
  },
  {
    name: 'bare addresses are text, not links',
    seen: text('# Seller\n\n> Weather\n\n## API\n\n- https://seller.example/weather\n'),
    expect: { status: 'warn', outcome: 'no-links', evidence: ['"Seller"'] },
  },
  {
    name: 'links outside any H2 section',
    seen: text('# Seller\n\n> Weather\n\n- [Weather](/weather)\n'),
    expect: { status: 'warn', outcome: 'no-links' },
  },
  {
    name: 'complete',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['"Seller" and 1 list of links'] },
  },
  {
    name: 'an autolink is a link, and Markdown is text under any text type',
    seen: text(
      '# Seller\n\n> Weather\n\n## API\n\n- <https://seller.example/weather>\n',
      'text/markdown',
    ),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'longer than the read limit',
    seen: { llmsTxt: asked('/llms.txt', answer(200, LLMS_TXT, {}, { truncated: true })) },
    expect: { status: 'fail', outcome: 'oversize', evidence: ['/llms.txt'] },
  },
];

export default cases;
