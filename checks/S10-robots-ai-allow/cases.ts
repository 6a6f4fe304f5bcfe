import type { CheckCase } from '#check';
import {
  answer,
  asked,
  failure,
  html,
  NOT_FOUND,
} from '../../test/fixtures/observations/build-observations.ts';

function withRobots(...lines: readonly string[]): CheckCase['seen'] {
  return { robots: asked('/robots.txt', answer(200, `${lines.join('\n')}\n`)) };
}

const READERS = [
  'OAI-SearchBot',
  'Claude-SearchBot',
  'PerplexityBot',
  'ChatGPT-User',
  'Claude-User',
  'Perplexity-User',
  'MistralAI-User',
];

const cases: readonly CheckCase[] = [
  {
    name: '/robots.txt answers 503',
    seen: { robots: asked('/robots.txt', answer(503, 'Later')) },
    expect: { status: 'fail', outcome: 'server-error', evidence: ['503'] },
  },
  {
    name: '/robots.txt is not answered in time',
    seen: { robots: failure('timeout') },
    expect: { status: 'warn', outcome: 'unreadable', evidence: ['timeout'] },
  },
  {
    name: 'the body of every path breaks off',
    seen: {
      robots: asked('/robots.txt', answer(200, '', {}, { bodyFailure: 'timeout' })),
      soft404: asked('/no-such-page', answer(200, '', {}, { bodyFailure: 'timeout' })),
    },
    expect: { status: 'warn', outcome: 'unreadable', evidence: ['broke off (timeout)'] },
  },
  {
    name: '/robots.txt was cut within a line that denies everything',
    seen: {
      robots: asked(
        '/robots.txt',
        answer(200, 'User-agent: *\nAllow: /\nDisallow: /', {}, { truncated: true }),
      ),
    },
    expect: { status: 'pass', outcome: 'open' },
  },
  {
    name: '/robots.txt was cut after a line that denies everything',
    seen: {
      robots: asked(
        '/robots.txt',
        answer(200, 'User-agent: *\nDisallow: /\nAllow', {}, { truncated: true }),
      ),
    },
    expect: { status: 'fail', outcome: 'all-denied' },
  },
  {
    name: 'every agent is denied everything',
    seen: withRobots('User-agent: *', 'Disallow: /'),
    expect: { status: 'fail', outcome: 'all-denied', evidence: ['"User-agent: *"'] },
  },
  {
    name: 'each search and user-fetch agent is denied by name',
    seen: withRobots(...READERS.map((agent) => `User-agent: ${agent}`), 'Disallow: /'),
    expect: { status: 'fail', outcome: 'all-denied', evidence: ['every search'] },
  },
  {
    name: 'every agent is denied except one',
    seen: withRobots('User-agent: *', 'Disallow: /', '', 'User-agent: ChatGPT-User', 'Allow: /'),
    expect: { status: 'fail', outcome: 'all-denied' },
  },
  {
    name: 'one user-fetch agent is denied',
    seen: withRobots('User-agent: ChatGPT-User', 'Disallow: /'),
    expect: { status: 'warn', outcome: 'some-denied', evidence: ['ChatGPT-User', '"/"'] },
  },
  {
    name: 'every agent is denied one discovery path',
    seen: withRobots('User-agent: *', 'Disallow: /openapi.json'),
    expect: { status: 'warn', outcome: 'some-denied', evidence: ['"/openapi.json" to all agents'] },
  },
  {
    name: 'every agent is denied a folder with a discovery path',
    seen: withRobots('User-agent: *', 'Disallow: /.well-known/'),
    expect: { status: 'warn', outcome: 'some-denied', evidence: ['"/.well-known/x402"'] },
  },
  {
    name: '/robots.txt answers 404',
    seen: { robots: asked('/robots.txt', NOT_FOUND) },
    expect: { status: 'pass', outcome: 'no-robots', evidence: ['404'] },
  },
  {
    name: '/robots.txt answers 403, which means no rules',
    seen: { robots: asked('/robots.txt', answer(403, 'no')) },
    expect: { status: 'pass', outcome: 'no-robots', evidence: ['403'] },
  },
  {
    name: '/robots.txt is an HTML page',
    seen: { robots: asked('/robots.txt', html(200, '<!doctype html><html></html>')) },
    expect: { status: 'pass', outcome: 'no-robots' },
  },
  {
    name: 'every agent may read',
    seen: {},
    expect: { status: 'pass', outcome: 'open', evidence: ['all 7 agents that we know may read'] },
  },
  {
    name: 'every agent is denied, and all search and user-fetch agents are allowed by name',
    seen: withRobots(
      'User-agent: *',
      'Disallow: /',
      '',
      ...READERS.map((agent) => `User-agent: ${agent}`),
      'Allow: /',
    ),
    expect: { status: 'pass', outcome: 'open' },
  },
  {
    name: 'only training crawlers are denied',
    seen: withRobots('User-agent: GPTBot', 'User-agent: CCBot', 'Disallow: /'),
    expect: {
      status: 'pass',
      outcome: 'open',
      evidence: ['training crawlers denied: GPTBot, CCBot)'],
    },
  },
  {
    name: 'every agent is denied a folder, and allowed the discovery paths in it',
    seen: withRobots(
      'User-agent: *',
      'Disallow: /.well-known/',
      'Allow: /.well-known/x402',
      'Allow: /.well-known/agent-card.json',
    ),
    expect: { status: 'pass', outcome: 'open' },
  },
];

export default cases;
