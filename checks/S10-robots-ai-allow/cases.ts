import type { CheckCase } from '../../src/engine/define-check.ts';
import {
  answer,
  asked,
  failure,
  html,
  NOT_FOUND,
} from '../../test/fixtures/observations/build-observations.ts';

function robots(...lines: readonly string[]): CheckCase['seen'] {
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
    name: 'a server error is a complete disallow',
    seen: { robots: asked('/robots.txt', answer(503, 'Later')) },
    expect: { status: 'fail', outcome: 'server-error', evidence: ['503'] },
  },
  {
    name: 'no answer',
    seen: { robots: failure('timeout') },
    expect: { status: 'warn', outcome: 'unreadable', evidence: ['timeout'] },
  },
  {
    name: 'cut rules, on a site that cuts every body',
    seen: {
      robots: asked('/robots.txt', answer(200, '', {}, { bodyFailure: 'timeout' })),
      soft404: asked('/no-such-page', answer(200, '', {}, { bodyFailure: 'timeout' })),
    },
    expect: { status: 'warn', outcome: 'unreadable', evidence: ['broke off (timeout)'] },
  },
  {
    name: 'everybody is denied everything',
    seen: robots('User-agent: *', 'Disallow: /'),
    expect: { status: 'fail', outcome: 'all-denied', evidence: ['"User-agent: *"'] },
  },
  {
    name: 'each reader is denied by name',
    seen: robots(...READERS.map((agent) => `User-agent: ${agent}`), 'Disallow: /'),
    expect: { status: 'fail', outcome: 'all-denied', evidence: ['every search'] },
  },
  {
    name: 'everybody is denied but some readers: the others still cannot read',
    seen: robots('User-agent: *', 'Disallow: /', '', 'User-agent: ChatGPT-User', 'Allow: /'),
    expect: { status: 'fail', outcome: 'all-denied' },
  },
  {
    name: 'one user-fetch agent is denied',
    seen: robots('User-agent: ChatGPT-User', 'Disallow: /'),
    expect: { status: 'warn', outcome: 'some-denied', evidence: ['ChatGPT-User', '"/"'] },
  },
  {
    name: 'one discovery path is denied to all',
    seen: robots('User-agent: *', 'Disallow: /openapi.json'),
    expect: { status: 'warn', outcome: 'some-denied', evidence: ['all agents "/openapi.json"'] },
  },
  {
    name: 'a prefix covers a discovery path',
    seen: robots('User-agent: *', 'Disallow: /.well-known/'),
    expect: { status: 'warn', outcome: 'some-denied', evidence: ['"/.well-known/x402"'] },
  },
  {
    name: 'no robots.txt',
    seen: { robots: asked('/robots.txt', NOT_FOUND) },
    expect: { status: 'pass', outcome: 'no-robots', evidence: ['404'] },
  },
  {
    name: 'forbidden is "no rules" too (RFC 9309, 2.3.1.3)',
    seen: { robots: asked('/robots.txt', answer(403, 'no')) },
    expect: { status: 'pass', outcome: 'no-robots', evidence: ['403'] },
  },
  {
    name: 'a page for people under its path',
    seen: { robots: asked('/robots.txt', html(200, '<!doctype html><html></html>')) },
    expect: { status: 'pass', outcome: 'no-robots' },
  },
  {
    name: 'open to all',
    seen: {},
    expect: { status: 'pass', outcome: 'open', evidence: ['all 7 agents that we know may read'] },
  },
  {
    name: 'everybody is denied, all readers are allowed by name',
    seen: robots(
      'User-agent: *',
      'Disallow: /',
      '',
      ...READERS.map((agent) => `User-agent: ${agent}`),
      'Allow: /',
    ),
    expect: { status: 'pass', outcome: 'open' },
  },
  {
    name: 'blocking training crawlers is policy',
    seen: robots('User-agent: GPTBot', 'User-agent: CCBot', 'Disallow: /'),
    expect: {
      status: 'pass',
      outcome: 'open',
      evidence: ['training crawlers denied: GPTBot, CCBot)'],
    },
  },
  {
    name: 'a longer Allow wins over a Disallow',
    seen: robots(
      'User-agent: *',
      'Disallow: /.well-known/',
      'Allow: /.well-known/x402',
      'Allow: /.well-known/agent-card.json',
    ),
    expect: { status: 'pass', outcome: 'open' },
  },
];

export default cases;
