import type { CheckCase } from '#check';
import type { IndexedResource, OriginFacts } from '#model';
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
  toLookup,
} from '../../test/fixtures/observations/build-observations.ts';

const NOT_INDEXED = toLookup(indexedOrigin({ resources: [] }));
const INDEXED_RESOURCE: IndexedResource = {
  resource: `${ORIGIN}/weather`,
  method: 'GET',
  lastUpdated: null,
  accepts: 1,
  deprecated: false,
};

function originAt(hostname: string): OriginFacts {
  return { url: `https://${hostname}`, scheme: 'https', hostname, port: 443, host: hostname };
}

/** An unregistered seller has one GET resource with this challenge. Its OpenAPI document declares no input. */
function withChallenge(challenge: Parameters<typeof challenge402>[0]): CheckCase['seen'] {
  const get = challenge402(challenge);
  return {
    x402scan: NOT_INDEXED,
    resources: resources([resource({ get })]),
    openapi: asked(
      '/openapi.json',
      answer(200, openApiDocument({ paths: { '/weather': { get: paidOperation() } } })),
    ),
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'the scan runs offline',
    seen: { x402scan: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined', evidence: ['offline'] },
  },
  {
    name: 'the index answers 503',
    seen: { x402scan: { state: 'failed', source: 'x402scan', detail: 'answered 503' } },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['503'] },
  },
  {
    name: 'the index knows two resources: one without accepts, one deprecated',
    seen: {
      x402scan: toLookup(
        indexedOrigin({
          resources: [
            { ...INDEXED_RESOURCE, resource: `${ORIGIN}/a`, accepts: 0 },
            { ...INDEXED_RESOURCE, resource: `${ORIGIN}/b`, deprecated: true },
          ],
        }),
      ),
    },
    expect: { status: 'warn', outcome: 'not-displayed', evidence: ['2 resources'] },
  },
  {
    name: 'an unregistered seller breaks no rule of registration',
    seen: { x402scan: NOT_INDEXED },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['no obstacle'] },
  },
  {
    name: 'an unregistered seller uses the host of a tunnel',
    seen: { x402scan: NOT_INDEXED, origin: originAt('brave-otter.trycloudflare.com') },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['tunnel'] },
  },
  {
    name: 'an unregistered seller on a Vercel preview sends noindex',
    seen: {
      x402scan: NOT_INDEXED,
      origin: originAt('shop-git-main.vercel.app'),
      root: html(200, ROOT_PAGE, { 'x-robots-tag': 'noindex' }),
    },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['Vercel preview'] },
  },
  {
    name: 'an unregistered seller runs in production on vercel.app',
    seen: { x402scan: NOT_INDEXED, origin: originAt('shop.vercel.app') },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['no obstacle'] },
  },
  {
    name: 'an unregistered seller has no OpenAPI document',
    seen: { x402scan: NOT_INDEXED, openapi: asked('/openapi.json', NOT_FOUND) },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['not an OpenAPI document'] },
  },
  {
    name: 'an unregistered seller answers 429 for the OpenAPI document',
    seen: { x402scan: NOT_INDEXED, openapi: asked('/openapi.json', answer(429, {})) },
    expect: {
      status: 'fail',
      outcome: 'not-found',
      evidence: ['the OpenAPI document was not read', '429'],
    },
  },
  {
    name: 'an unregistered seller has no resource that answers 402',
    seen: { x402scan: NOT_INDEXED, resources: resources([]) },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['no resource answered 402'] },
  },
  {
    name: 'an unregistered seller sends only version 1 challenges',
    seen: {
      x402scan: NOT_INDEXED,
      resources: resources([resource({ get: answer(402, challengeV1()) })]),
    },
    expect: { status: 'fail', outcome: 'not-found', evidence: ['version 1'] },
  },
  {
    name: 'an unregistered seller sends a PAYMENT-REQUIRED header over 16 KB',
    seen: withChallenge(challengeV2({ extensions: { notes: { text: 'a'.repeat(13_000) } } })),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['PAYMENT-REQUIRED has'] },
  },
  {
    name: 'an unregistered seller offers only a network that the index does not show',
    seen: withChallenge(challengeV2({ accepts: [offer({ network: 'eip155:137' })] })),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['eip155:137'] },
  },
  {
    name: 'an unregistered seller declares no input schema',
    seen: withChallenge(challengeV2()),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['has an input schema'] },
  },
  {
    name: 'an unregistered seller declares its input only in the bazaar extension',
    seen: withChallenge(challengeV2({ extensions: { bazaar: bazaarExtension() } })),
    expect: { status: 'fail', outcome: 'not-found', evidence: ['no obstacle'] },
  },
  {
    name: 'the index shows the only resource of the seller',
    seen: { x402scan: toLookup(indexedOrigin(), 'x402scan', 7_300) },
    expect: { status: 'pass', outcome: 'registered', evidence: ['1 of 1 resources', '2 h old'] },
  },
];

export default cases;
