/** Faults of llms.txt, agent card, robots.txt, icon, and of having nothing. */
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import {
  editDocument,
  json,
  NO_CHALLENGE_CELLS,
  NO_OPENAPI_CELLS,
  NOT_FOUND_ANSWER,
  page,
  plain,
  type Row,
} from './row.ts';

export const DOCUMENT_ROWS: readonly Row[] = [
  {
    name: 'only agent.json',
    answers: {
      '/.well-known/agent-card.json': NOT_FOUND_ANSWER,
      '/.well-known/agent.json': json({ name: 'Weather' }),
    },
    moved: ['S8 warn old-path'],
  },
  {
    name: 'an agent card without skills',
    answers: { '/.well-known/agent-card.json': editDocument(({ skills: _, ...rest }) => rest) },
    moved: ['S8 warn partial'],
  },
  {
    name: 'robots.txt that denies everything',
    answers: { '/robots.txt': plain('User-agent: *\nDisallow: /\n') },
    moved: ['S10 fail all-denied'],
  },
  {
    name: 'robots.txt that breaks',
    answers: { '/robots.txt': { status: 503 } },
    moved: ['S10 fail server-error'],
  },
  {
    name: 'three dead links',
    answers: { '/llms.txt': linking('/gone/1', '/gone/2', '/gone/3') },
    moved: ['S11 fail many-dead'],
    says: { S11: '/gone/3: 404' },
  },
  {
    name: 'a link that needs a login, one by another method, one to another host',
    answers: {
      '/llms.txt': linking('/account', '/write', 'https://elsewhere.invalid/'),
      '/account': { status: 401 },
      '/write': { status: 405 },
    },
    moved: [],
    says: { S11: 'did not contact 1 link on other hosts' },
  },
  {
    name: 'robots.txt that shuts out only crawlers for training',
    answers: {
      '/robots.txt': plain('User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n'),
    },
    moved: [],
    says: { S10: 'training crawlers denied: GPTBot' },
  },
  {
    name: 'robots.txt that denies the OpenAPI document',
    answers: { '/robots.txt': plain('User-agent: *\nDisallow: /openapi.json\n') },
    moved: ['S10 warn some-denied'],
  },
  {
    name: 'llms.txt without a heading',
    answers: { '/llms.txt': plain('We sell the weather.\n') },
    moved: ['S7 fail no-h1'],
  },
  {
    name: 'llms.txt without a summary',
    answers: { '/llms.txt': plain('# Weather\n\n## Documents\n\n- [API](/openapi.json)\n') },
    moved: ['S7 warn no-summary'],
  },
  {
    name: 'an agent card of another host',
    answers: {
      '/.well-known/agent-card.json': editDocument((card) => ({
        ...card,
        url: 'https://elsewhere.invalid',
      })),
    },
    moved: ['S8 warn other-host'],
  },
  {
    name: 'only an icon of another host',
    answers: {
      '/': page(
        '<link rel="icon" href="https://elsewhere.invalid/i.png"><a href="/openapi.json">API</a>',
      ),
      '/favicon.svg': NOT_FOUND_ANSWER,
    },
    moved: ['S12 warn other-host'],
  },
  {
    name: 'an icon of another type',
    answers: { '/favicon.svg': plain('<svg/>') },
    moved: ['S12 warn wrong-type'],
  },
  {
    name: 'no document and nothing for sale',
    answers: {
      '*': ({ path }) => (path === '/' ? plain('Hello') : NOT_FOUND_ANSWER),
    },
    moved: [
      'P2 fail none-found',
      ...NO_CHALLENGE_CELLS,
      'S1 fail absent',
      ...NO_OPENAPI_CELLS,
      'S5 pass no-post-resource',
      'S6 fail absent',
      'S7 fail absent',
      'S8 fail absent',
      'S9 warn no-pointer',
      'S10 pass no-robots',
      'S11 pass no-documents',
      'S12 fail no-icon',
    ],
  },
];

function linking(...targets: readonly string[]): Answering {
  const list = targets.map((target) => `- [x](${target}): y\n`).join('');
  return (_, usual) => ({ ...usual, body: `${usual.body}${list}` });
}
