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

function times(count: number, one: LinkObservation): readonly LinkObservation[] {
  return Array.from({ length: count }, () => one);
}

const cases: readonly CheckCase[] = [
  {
    name: 'no document at all',
    seen: links([], { documents: 0 }),
    expect: { status: 'pass', outcome: 'no-documents', basis: 'not_applicable' },
  },
  {
    name: 'documents without links to this origin',
    seen: links([], { otherHosts: 3 }),
    expect: {
      status: 'pass',
      outcome: 'no-links',
      basis: 'not_applicable',
      evidence: ['did not contact 3 links on other hosts'],
    },
  },
  {
    name: 'links that we did not get to say nothing',
    seen: links([link(failure('budget')), link(failure('rate-limited'))]),
    expect: {
      status: 'pass',
      outcome: 'no-links',
      basis: 'not_applicable',
      evidence: ['2 links to this origin; we asked none'],
    },
  },
  {
    name: 'three dead',
    seen: links([...times(3, link(NOT_FOUND)), link(OK)]),
    expect: {
      status: 'fail',
      outcome: 'many-dead',
      evidence: ['3 of 4 links are dead', 'GET /docs: 404', '"/llms.txt"'],
    },
  },
  {
    name: 'gone, no name and a refused connection are dead too',
    seen: links([link(answer(410)), link(failure('dns')), link(failure('refused'))]),
    expect: { status: 'fail', outcome: 'many-dead', evidence: ['410', 'dns', 'refused'] },
  },
  {
    name: 'three of fifteen are dead: over two, whatever the share',
    seen: links([...times(3, link(NOT_FOUND)), ...times(12, link(OK))]),
    expect: { status: 'fail', outcome: 'many-dead', evidence: ['3 of 15'] },
  },
  {
    name: 'two of ten are not over a fifth',
    seen: links([...times(2, link(NOT_FOUND)), ...times(8, link(OK))]),
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['2 of 10 links are dead'] },
  },
  {
    name: 'two of two are dead, but fewer than ten were found',
    seen: links(times(2, link(NOT_FOUND)), { otherHosts: 1 }),
    expect: {
      status: 'warn',
      outcome: 'some-dead',
      evidence: ['did not contact 1 links on other hosts'],
    },
  },
  {
    name: 'a server entry whose host does not connect',
    seen: links([link(failure('refused'), { server: true, from: '/openapi.json#/servers/0' })]),
    expect: { status: 'warn', outcome: 'some-dead', evidence: ['/openapi.json#/servers/0'] },
  },
  {
    name: 'a linked page fails',
    seen: links([link(answer(502)), link(OK)]),
    expect: { status: 'warn', outcome: 'failing', evidence: ['GET /docs: 502'] },
  },
  {
    name: 'a linked page does not answer in time',
    seen: links([link(failure('timeout'))]),
    expect: { status: 'warn', outcome: 'failing', evidence: ['timeout'] },
  },
  {
    name: 'a server entry answers 404 and 500 at its base: nothing need be there',
    seen: links([link(NOT_FOUND, { server: true }), link(answer(500), { server: true })]),
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'for sale, behind a login, refused by method or rate: alive',
    seen: links(
      [401, 402, 403, 405, 429].map((status) => link(answer(status))),
      { found: 41 },
    ),
    expect: { status: 'pass', outcome: 'all-alive', evidence: ['checked 5 of 41 links'] },
  },
  {
    name: 'a POST operation is judged by its own method',
    seen: links([link(answer(402), { method: 'POST' })]),
    expect: { status: 'pass', outcome: 'all-alive' },
  },
  {
    name: 'a paid resource that the manifest names without a method, which only POST finds',
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
    name: 'the same in a scan without POST: not known',
    seen: {
      ...links([link(NOT_FOUND, { url: `${ORIGIN}/summaries`, from: '/.well-known/x402' })]),
      resources: resources([
        resource({ method: null, path: '/summaries', get: [NOT_FOUND, NOT_FOUND] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'no-links', basis: 'not_applicable' },
  },
  {
    name: 'the same if POST finds nothing either',
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
    name: 'all alive',
    seen: {},
    expect: { status: 'pass', outcome: 'all-alive', evidence: ['checked 1 of 1 links'] },
  },
];

export default cases;
