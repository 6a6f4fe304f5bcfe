import type { CheckCase } from '#check';
import type { HttpObservation, LinkObservation, LinkSet } from '#model';
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

function toLink(answered: HttpObservation, more: Partial<LinkObservation> = {}): LinkObservation {
  const url = `${ORIGIN}/docs`;
  return { url, from: '/llms.txt', method: 'GET', server: false, answer: answered, ...more };
}

function withLinks(
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
    name: 'one document is over our limits, and the links of the others are alive',
    seen: {
      ...withLinks([toLink(answer(200, {}))]),
      resources: resources([], { unread: ['GET /openapi.json: 200, but longer'] }),
    },
    expect: { status: 'pass', outcome: 'all-alive', evidence: ['not read: GET /openapi.json'] },
  },
  {
    name: 'the seller has none of the documents',
    seen: withLinks([], { documents: 0 }),
    expect: { status: 'pass', outcome: 'no-documents', basis: 'not_applicable' },
  },
  {
    name: 'the documents link only to other hosts',
    seen: withLinks([], { otherHosts: 3 }),
    expect: {
      status: 'pass',
      outcome: 'no-links',
      basis: 'not_applicable',
      evidence: ['did not contact 3 links on other hosts'],
    },
  },
  {
    name: 'the scan asked none of the links',
    seen: withLinks([toLink(failure('budget')), toLink(failure('rate-limited'))]),
    expect: {
      status: 'pass',
      outcome: 'no-links',
      basis: 'not_applicable',
      evidence: ['2 links to this origin; we asked none'],
    },
  },
  {
    name: 'three of four links are dead',
    seen: withLinks([...repeat(3, toLink(NOT_FOUND)), toLink(OK)]),
    expect: {
      status: 'fail',
      outcome: 'many-dead',
      evidence: ['3 of 4 links are dead', 'GET /docs: 404', '"/llms.txt"'],
    },
  },
  {
    name: 'three links are dead by 410, by name and by refused connection',
    seen: withLinks([toLink(answer(410)), toLink(failure('dns')), toLink(failure('refused'))]),
    expect: { status: 'fail', outcome: 'many-dead', evidence: ['410', 'dns', 'refused'] },
  },
  {
    name: 'three of fifteen links are dead',
    seen: withLinks([...repeat(3, toLink(NOT_FOUND)), ...repeat(12, toLink(OK))]),
    expect: { status: 'fail', outcome: 'many-dead', evidence: ['3 of 15'] },
  },
  {
    name: 'two of ten links are dead',
    seen: withLinks([...repeat(2, toLink(NOT_FOUND)), ...repeat(8, toLink(OK))]),
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['2 of 10 links are dead'] },
  },
  {
    name: 'both links are dead',
    seen: withLinks(repeat(2, toLink(NOT_FOUND)), { otherHosts: 1 }),
    expect: {
      status: 'warn',
      outcome: 'some-dead',
      evidence: ['did not contact 1 link on other hosts'],
    },
  },
  {
    name: 'a server entry refuses connections',
    seen: withLinks([
      toLink(failure('refused'), { server: true, from: '/openapi.json#/servers/0' }),
    ]),
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['/openapi.json#/servers/0'] },
  },
  {
    name: 'a linked page answers 502',
    seen: withLinks([toLink(answer(502)), toLink(OK)]),
    expect: { status: 'warn', outcome: 'failing', evidence: ['GET /docs: 502'] },
  },
  {
    name: 'a linked page is not answered in time',
    seen: withLinks([toLink(failure('timeout'))]),
    expect: { status: 'warn', outcome: 'failing', evidence: ['timeout'] },
  },
  {
    name: 'two server entries answer 404 and 500',
    seen: withLinks([toLink(NOT_FOUND, { server: true }), toLink(answer(500), { server: true })]),
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'five links answer 401, 402, 403, 405 and 429',
    seen: withLinks(
      [401, 402, 403, 405, 429].map((status) => toLink(answer(status))),
      { found: 41 },
    ),
    expect: { status: 'pass', outcome: 'all-alive', evidence: ['checked 5 of 41 links'] },
  },
  {
    name: 'a link to a POST operation answers 402',
    seen: withLinks([toLink(answer(402), { method: 'POST' })]),
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'the manifest names a resource without a method, and only POST finds it',
    seen: {
      ...withLinks([toLink(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
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
      ...withLinks([toLink(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
      resources: resources([
        resource({ method: null, path: '/summaries', get: [NOT_FOUND, NOT_FOUND] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'no-links', basis: 'not_applicable' },
  },
  {
    name: 'the manifest names a resource without a method, and POST answers 404',
    seen: {
      ...withLinks([toLink(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
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
