import type { CheckCase } from '../../src/engine/define-check.ts';
import type { HttpObservation, LinkObservation, LinkSet } from '../../src/model/observations.ts';
import {
  answer,
  challenge402,
  failure,
  NOT_FOUND,
  ORIGIN,
  postChallenge,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

const OK = answer(200);
const POSTED = challenge402(postChallenge());

function link(answered: HttpObservation, more: Partial<LinkObservation> = {}): LinkObservation {
  const url = `${ORIGIN}/docs`;
  return { url, from: '/llms.txt', method: 'GET', server: false, answer: answered, ...more };
}

function links(
  checked: readonly LinkObservation[],
  more: Partial<LinkSet> = {},
): CheckCase['seen'] {
  return { links: { checked, found: checked.length, otherHosts: 0, documents: 1, ...more } };
}

function repeat(count: number, each: LinkObservation): readonly LinkObservation[] {
  return Array.from({ length: count }, () => each);
}

const cases: readonly CheckCase[] = [
  {
    name: 'the seller has none of the documents',
    seen: links([], { documents: 0 }),
    expect: { status: 'pass', outcome: 'no-documents', basis: 'not_applicable' },
  },
  {
    name: 'the documents link only to other hosts',
    seen: links([], { otherHosts: 3 }),
    expect: {
      status: 'pass',
      outcome: 'no-links',
      basis: 'not_applicable',
      evidence: ['did not contact 3 links on other hosts'],
    },
  },
  {
    name: 'the scan asked none of the links',
    seen: links([link(failure('budget')), link(failure('rate-limited'))]),
    expect: {
      status: 'pass',
      outcome: 'no-links',
      basis: 'not_applicable',
      evidence: ['2 links to this origin; we asked none'],
    },
  },
  {
    name: 'three of four links are dead',
    seen: links([...repeat(3, link(NOT_FOUND)), link(OK)]),
    expect: {
      status: 'fail',
      outcome: 'many-dead',
      evidence: ['3 of 4 links are dead', 'GET /docs: 404', '"/llms.txt"'],
    },
  },
  {
    name: 'three links are dead by 410, by name and by refused connection',
    seen: links([link(answer(410)), link(failure('dns')), link(failure('refused'))]),
    expect: { status: 'fail', outcome: 'many-dead', evidence: ['410', 'dns', 'refused'] },
  },
  {
    name: 'three of fifteen links are dead',
    seen: links([...repeat(3, link(NOT_FOUND)), ...repeat(12, link(OK))]),
    expect: { status: 'fail', outcome: 'many-dead', evidence: ['3 of 15'] },
  },
  {
    name: 'two of ten links are dead',
    seen: links([...repeat(2, link(NOT_FOUND)), ...repeat(8, link(OK))]),
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['2 of 10 links are dead'] },
  },
  {
    name: 'both links are dead',
    seen: links(repeat(2, link(NOT_FOUND)), { otherHosts: 1 }),
    expect: {
      status: 'warn',
      outcome: 'some-dead',
      evidence: ['did not contact 1 links on other hosts'],
    },
  },
  {
    name: 'a server entry refuses connections',
    seen: links([link(failure('refused'), { server: true, from: '/openapi.json#/servers/0' })]),
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['/openapi.json#/servers/0'] },
  },
  {
    name: 'a linked page answers 502',
    seen: links([link(answer(502)), link(OK)]),
    expect: { status: 'warn', outcome: 'failing', evidence: ['GET /docs: 502'] },
  },
  {
    name: 'a linked page is not answered in time',
    seen: links([link(failure('timeout'))]),
    expect: { status: 'warn', outcome: 'failing', evidence: ['timeout'] },
  },
  {
    name: 'two server entries answer 404 and 500',
    seen: links([link(NOT_FOUND, { server: true }), link(answer(500), { server: true })]),
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'five links answer 401, 402, 403, 405 and 429',
    seen: links(
      [401, 402, 403, 405, 429].map((status) => link(answer(status))),
      { found: 41 },
    ),
    expect: { status: 'pass', outcome: 'all-alive', evidence: ['checked 5 of 41 links'] },
  },
  {
    name: 'a link to a POST operation answers 402',
    seen: links([link(answer(402), { method: 'POST' })]),
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'the manifest names a resource without a method, and only POST finds it',
    seen: {
      ...links([link(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
      resources: resources([
        resource({
          method: null,
          path: '/summaries',
          get: [NOT_FOUND, NOT_FOUND],
          post: [POSTED, POSTED],
        }),
      ]),
    },
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'the manifest names a resource without a method, and no POST was sent',
    seen: {
      ...links([link(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
      resources: resources([
        resource({ method: null, path: '/summaries', get: [NOT_FOUND, NOT_FOUND] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'no-links', basis: 'not_applicable' },
  },
  {
    name: 'the manifest names a resource without a method, and POST answers 404',
    seen: {
      ...links([link(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
      resources: resources([
        resource({
          method: null,
          path: '/summaries',
          get: [NOT_FOUND, NOT_FOUND],
          post: [NOT_FOUND, NOT_FOUND],
        }),
      ]),
    },
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['POST /summaries: 404'] },
  },
  {
    name: 'the only link is alive',
    seen: {},
    expect: { status: 'pass', outcome: 'all-alive', evidence: ['checked 1 of 1 links'] },
  },
];

export default cases;
