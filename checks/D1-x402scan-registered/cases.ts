import type { CheckCase } from '../../src/engine/define-check.ts';
import type { IndexedResource, OriginFacts } from '../../src/model/observations.ts';
import {
  answer,
  asked,
  bazaarExtension,
  challenge402,
  challengeV1,
  challengeV2,
  html,
  indexedOrigin,
  NOT_FOUND,
  ORIGIN,
  offer,
  openApiDocument,
  paidOperation,
  ROOT_PAGE,
  resource,
  resources,
  seen,
} from '../../test/fixtures/observations/build-observations.ts';

const UNKNOWN = seen(indexedOrigin({ resources: [] }));
const RESOURCE: IndexedResource = {
  resource: `${ORIGIN}/weather`,
  method: 'GET',
  lastUpdated: null,
  accepts: 1,
  deprecated: false,
};

function originAt(hostname: string): OriginFacts {
  return { url: `https://${hostname}`, scheme: 'https', hostname, port: 443, host: hostname };
}

/** One GET resource, and an OpenAPI document without any input. */
function challenging(challenge: Parameters<typeof challenge402>[0]): CheckCase['seen'] {
  const get = challenge402(challenge);
  return {
    x402scan: UNKNOWN,
    resources: resources([resource({ get })]),
    openapi: asked(
      '/openapi.json',
      answer(200, openApiDocument({ paths: { '/weather': { get: paidOperation() } } })),
    ),
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'offline',
    seen: { x402scan: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined', evidence: ['offline'] },
  },
  {
    name: 'the index does not answer',
    seen: { x402scan: { state: 'failed', source: 'x402scan', detail: 'answered 503' } },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['503'] },
  },
  {
    name: 'known, but nothing to display',
    seen: {
      x402scan: seen(
        indexedOrigin({
          resources: [
            { ...RESOURCE, resource: `${ORIGIN}/a`, accepts: 0 },
            { ...RESOURCE, resource: `${ORIGIN}/b`, deprecated: true },
          ],
        }),
      ),
    },
    expect: { status: 'warn', outcome: 'not-displayed', evidence: ['2 resources'] },
  },
  {
    name: 'unknown, and nothing prevents the registration',
    seen: { x402scan: UNKNOWN },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['we see nothing'] },
  },
  {
    name: 'unknown: a tunnel',
    seen: { x402scan: UNKNOWN, origin: originAt('brave-otter.trycloudflare.com') },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['tunnel'] },
  },
  {
    name: 'unknown: a Vercel preview sends noindex',
    seen: {
      x402scan: UNKNOWN,
      origin: originAt('shop-git-main.vercel.app'),
      root: html(200, ROOT_PAGE, { 'x-robots-tag': 'noindex' }),
    },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['Vercel preview'] },
  },
  {
    name: 'unknown: production on vercel.app is fine',
    seen: { x402scan: UNKNOWN, origin: originAt('shop.vercel.app') },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['we see nothing'] },
  },
  {
    name: 'unknown: no OpenAPI document',
    seen: { x402scan: UNKNOWN, openapi: asked('/openapi.json', NOT_FOUND) },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['not an OpenAPI document'] },
  },
  {
    name: 'unknown: nothing challenges',
    seen: { x402scan: UNKNOWN, resources: resources([]) },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['no resource answered 402'] },
  },
  {
    name: 'unknown: version 1 only',
    seen: {
      x402scan: UNKNOWN,
      resources: resources([resource({ get: answer(402, challengeV1()) })]),
    },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['version 1'] },
  },
  {
    name: 'unknown: the header is over 16 KB',
    seen: challenging(challengeV2({ extensions: { notes: { text: 'a'.repeat(13_000) } } })),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['PAYMENT-REQUIRED has'] },
  },
  {
    name: 'unknown: a network that the index does not show',
    seen: challenging(challengeV2({ accepts: [offer({ network: 'eip155:137' })] })),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['eip155:137'] },
  },
  {
    name: 'unknown: no input schema anywhere',
    seen: challenging(challengeV2()),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['has an input schema'] },
  },
  {
    name: 'unknown: a bazaar extension is input schema enough',
    seen: challenging(challengeV2({ extensions: { bazaar: bazaarExtension() } })),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['we see nothing'] },
  },
  {
    name: 'registered',
    seen: { x402scan: seen(indexedOrigin(), 'x402scan', 7_300) },
    expect: { status: 'pass', outcome: 'registered', evidence: ['1 of 1 resources', '2 h old'] },
  },
];

export default cases;
