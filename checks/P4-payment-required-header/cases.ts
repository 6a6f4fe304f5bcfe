import type { CheckCase } from '#check';
import type { JsonObject } from '#parse/json';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  encodeChallenge,
  type Headers,
  ORIGIN,
  OTHER_PAY_TO,
  offer,
  offerV1,
  resource,
  resources,
  toolResource,
} from '../../test/fixtures/observations/build-observations.ts';

type Answer = ReturnType<typeof answer>;

function withAnswers(...answers: readonly Answer[]): CheckCase['seen'] {
  return {
    resources: resources(answers.map((get, index) => resource({ path: `/${index}`, get }))),
  };
}

function withTools(...probed: readonly ReturnType<typeof toolResource>[]): CheckCase['seen'] {
  return { resources: resources(probed) };
}

const EXTENSION = { binding: 'extension', isError: false } as const;

function withHeader(value: string): CheckCase['seen'] {
  return withAnswers(challenge402(challengeV2(), { header: value, body: challengeV2() }));
}

function withBody(body: JsonObject, challenge = challengeV2()): CheckCase['seen'] {
  return withAnswers(challenge402(challenge, { body }));
}

function withCacheHeaders(headers: Headers): CheckCase['seen'] {
  return withAnswers(challenge402(challengeV2(), { headers }));
}

/** The header of this challenge has exactly `chars` characters. `chars` must be a multiple of four. */
function toChallengeOfLength(chars: number): JsonObject {
  const bare = JSON.stringify(challengeV2({ extensions: { pad: '' } })).length;
  return challengeV2({ extensions: { pad: 'x'.repeat((chars / 4) * 3 - bare) } });
}

const base64url = encodeChallenge(challengeV2({ error: '???>>>' }))
  .replaceAll('+', '-')
  .replaceAll('/', '_');
const UPTO = offer({ scheme: 'upto', extra: { facilitatorAddress: OTHER_PAY_TO } });
const PERMIT2 = offer({ extra: { assetTransferMethod: 'permit2' } });
const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
};

/** Returns a challenge whose base64 lacks `missing` characters "=" at its end. */
function toUnpaddedBase64(missing: 1 | 2): string {
  const errors = ['a', 'ab', 'abc'].map((error) => encodeChallenge(challengeV2({ error })));
  const padded = errors.find(
    (text) => text.endsWith('='.repeat(missing)) && !text.endsWith('='.repeat(missing + 1)),
  );
  return (padded ?? '').replace(/=+$/, '');
}

const cases: readonly CheckCase[] = [
  ...([1, 2] as const).map(
    (missing): CheckCase => ({
      name: `the base64 lacks its ${missing} padding characters`,
      seen: withHeader(toUnpaddedBase64(missing)),
      expect: {
        status: 'warn',
        outcome: 'unpadded',
        evidence: ['TypeScript', 'Python', 'no padding'],
      },
    }),
  ),
  {
    name: 'the base64 lacks one of two padding characters',
    seen: withHeader(`${toUnpaddedBase64(2)}=`),
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['wrong padding'] },
  },
  {
    name: 'the headers together have over 16 KiB',
    seen: withAnswers(challenge402(challengeV2(), { headers: { 'x-filler': 'x'.repeat(16_384) } })),
    expect: { status: 'fail', outcome: 'long-head', evidence: ['bytes of headers', 'Node'] },
  },
  {
    name: 'the headers together have a little under 16 KiB',
    seen: withAnswers(challenge402(challengeV2(), { headers: { 'x-filler': 'x'.repeat(14_000) } })),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the body has one offer more than the header',
    seen: withBody(challengeV2({ accepts: [offer(), offer({ payTo: OTHER_PAY_TO })] })),
    expect: {
      status: 'warn',
      outcome: 'differs',
      evidence: ['only the body asks for', '/accepts/1'],
    },
  },
  {
    name: 'the body repeats one offer in place of the other offer of the header',
    seen: withBody(
      challengeV2({ accepts: [offer(), offer()] }),
      challengeV2({ accepts: [offer(), offer({ amount: '2' })] }),
    ),
    expect: {
      status: 'warn',
      outcome: 'differs',
      evidence: ['only the header asks for "2"', '/accepts/1'],
    },
  },
  {
    name: 'header and body share one offer, and each has one of its own',
    seen: withBody(
      challengeV2({ accepts: [offer(), offer({ amount: '1' })] }),
      challengeV2({ accepts: [offer(), offer({ amount: '2' })] }),
    ),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['only the body asks for "1"'] },
  },
  {
    name: 'the recipients of header and body differ only after 90 characters',
    seen: withBody(
      challengeV2({ accepts: [offer({ payTo: `${'x'.repeat(90)}1` })] }),
      challengeV2({ accepts: [offer({ payTo: `${'x'.repeat(90)}2` })] }),
    ),
    expect: { status: 'fail', outcome: 'terms-differ' },
  },
  {
    name: 'a version 1 challenge is only in the body',
    seen: withAnswers(bodyChallenge402()),
    expect: { status: 'fail', outcome: 'v1-only', evidence: ['GET /0', 'version 1'] },
  },
  {
    name: 'PAYMENT-REQUIRED has a version 1 challenge',
    seen: withAnswers(challenge402(challengeV1())),
    expect: { status: 'fail', outcome: 'v1-only', evidence: ['x402Version 1 in PAYMENT-REQUIRED'] },
  },
  {
    name: 'a version 2 challenge is only in the body',
    seen: withAnswers(bodyChallenge402(challengeV2())),
    expect: { status: 'fail', outcome: 'missing', evidence: ['1 of 1', 'GET /0'] },
  },
  {
    name: 'a version 2 challenge is in the body, and in a header of an older name',
    seen: withAnswers(
      bodyChallenge402(challengeV2(), { 'x-payment-required': encodeChallenge(challengeV2()) }),
    ),
    expect: { status: 'fail', outcome: 'missing', evidence: ['another in X-PAYMENT-REQUIRED'] },
  },
  {
    name: 'one resource sends the header, another only the body',
    seen: withAnswers(challenge402(), bodyChallenge402(challengeV2())),
    expect: { status: 'fail', outcome: 'missing', evidence: ['1 of 2', 'GET /1'] },
  },
  {
    name: 'the header is sent twice',
    seen: withAnswers(
      answer(402, challengeV2(), {
        'payment-required': [encodeChallenge(challengeV2()), encodeChallenge(challengeV2())],
      }),
    ),
    expect: { status: 'fail', outcome: 'repeated', evidence: ['sent 2 times'] },
  },
  {
    name: 'the header has JSON without base64',
    seen: withHeader(JSON.stringify(challengeV2())),
    expect: { status: 'fail', outcome: 'raw-json', evidence: ['x402Version'] },
  },
  {
    name: 'the header has base64url',
    seen: withHeader(base64url),
    expect: { status: 'fail', outcome: 'base64url', evidence: ['base64url'] },
  },
  {
    name: 'the header has base64 of text that is not JSON',
    seen: withHeader('cGF5IG1l'),
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['"cGF5IG1l"'] },
  },
  {
    name: 'the header has base64 of a list',
    seen: withHeader(encodeChallenge([])),
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['not an object'] },
  },
  {
    name: 'the header has no accepts, the body has',
    seen: withHeader(encodeChallenge({ price: '0.01' })),
    expect: { status: 'fail', outcome: 'not-a-challenge', evidence: ['{"price":"0.01"}'] },
  },
  {
    name: 'the body asks for another amount',
    seen: withBody(challengeV2({ accepts: [offer({ amount: '20000' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['"20000"', '/accepts/0'] },
  },
  {
    name: 'the body names another recipient',
    seen: withBody(challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: [OTHER_PAY_TO] },
  },
  {
    name: 'the body names another network',
    seen: withBody(challengeV2({ accepts: [offer({ network: 'eip155:84532' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['eip155:84532'] },
  },
  {
    name: 'the body has another scheme with the same terms',
    seen: withBody(challengeV2({ accepts: [offer({ scheme: 'upto' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['"upto"', '/accepts/0'] },
  },
  {
    name: 'scheme and recipient in the body are objects',
    seen: withBody(
      challengeV2({ accepts: [offer({ scheme: { toString: 1 }, payTo: { toString: 1 } })] }),
    ),
    expect: { status: 'fail', outcome: 'terms-differ' },
  },
  {
    name: 'a version 1 body asks for another amount',
    seen: withBody(challengeV1({ accepts: [offerV1({ maxAmountRequired: '9999' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['"9999"'] },
  },
  {
    name: 'the header has one offer more than the body',
    seen: withBody(challengeV2(), challengeV2({ accepts: [offer(), offer(SOLANA)] })),
    expect: { status: 'warn', outcome: 'differs', evidence: ['2 offers, 1 in the body'] },
  },
  {
    name: 'the body has another resource URL',
    seen: withBody(challengeV2({ resource: { url: `${ORIGIN}/other` } })),
    expect: { status: 'warn', outcome: 'differs', evidence: ['/resource/url'] },
  },
  {
    name: 'the body has another timeout',
    seen: withBody(challengeV2({ accepts: [offer({ maxTimeoutSeconds: 60 })] })),
    expect: { status: 'warn', outcome: 'differs', evidence: ['/accepts/0/maxTimeoutSeconds'] },
  },
  {
    name: 'the header has 8196 characters',
    seen: withAnswers(challenge402(toChallengeOfLength(8_196))),
    expect: { status: 'warn', outcome: 'too-long', evidence: ['8196 characters'] },
  },
  {
    name: 'the header has 8192 characters',
    seen: withAnswers(challenge402(toChallengeOfLength(8_192))),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the 402 has no Cache-Control',
    seen: withAnswers(answer(402, {}, { 'payment-required': encodeChallenge(challengeV2()) })),
    expect: { status: 'warn', outcome: 'cacheable', evidence: ['without Cache-Control'] },
  },
  {
    name: 'Cache-Control is public',
    seen: withCacheHeaders({ 'cache-control': 'public, max-age=60' }),
    expect: { status: 'warn', outcome: 'cacheable', evidence: ['"public, max-age=60"'] },
  },
  {
    name: 'Cache-Control is no-cache, with which caches may keep the 402',
    seen: withCacheHeaders({ 'cache-control': 'no-cache' }),
    expect: { status: 'warn', outcome: 'cacheable', evidence: ['"no-cache"'] },
  },
  {
    name: 'Cache-Control is private, with another directive',
    seen: withCacheHeaders({ 'cache-control': 'Private, max-age=0' }),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the second of two Cache-Control headers is no-store',
    seen: withCacheHeaders({ 'cache-control': ['max-age=0', 'no-store'] }),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the challenge is in the header, and the body is {}',
    seen: withAnswers(challenge402()),
    expect: { status: 'pass', outcome: 'sound', evidence: ['1 of 1'] },
  },
  {
    name: 'the body has the same offers in another order, another error and one member more',
    seen: withBody(
      challengeV2({ accepts: [offer(SOLANA), offer()], error: 'Pay first', hint: 'see /docs' }),
      challengeV2({ accepts: [offer(), offer(SOLANA)] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the body has the same recipient in lower case',
    seen: withBody(
      challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO.toLowerCase() })] }),
      challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO })] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'a version 1 body has the same terms',
    seen: withBody(challengeV1(), challengeV2({ accepts: [offer(), offer(SOLANA)] })),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the body has the same two schemes in another order',
    seen: withBody(
      challengeV2({ accepts: [UPTO, offer()] }),
      challengeV2({ accepts: [offer(), UPTO] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the body has the same two transfer methods in another order',
    seen: withBody(
      challengeV2({ accepts: [PERMIT2, offer()] }),
      challengeV2({ accepts: [offer(), PERMIT2] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'only the header has extensions',
    seen: withBody(challengeV2(), challengeV2({ extensions: { bazaar: { info: {} } } })),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the 402 has a WWW-Authenticate header too',
    seen: withCacheHeaders({ 'www-authenticate': 'Payment id="d41d8cd9"' }),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'a tool sends the challenge structured and as text',
    seen: withTools(toolResource()),
    expect: { status: 'pass', outcome: 'sound', evidence: ['structured result', '1 of 1'] },
  },
  {
    name: 'a tool asks by the extension, which the request offered',
    seen: withTools(toolResource({ ...EXTENSION, extension: 'both' }, challengeV2(), '')),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'a tool asks by the extension, which the request did not offer',
    seen: withTools(toolResource(EXTENSION, challengeV2(), '')),
    expect: { status: 'fail', outcome: 'not-an-error', evidence: ['/mcp#forecast'] },
  },
  {
    name: 'one of two tools sends its challenge in a result without isError',
    seen: withTools(toolResource(), toolResource({ name: 'tides', isError: false })),
    expect: { status: 'fail', outcome: 'not-an-error', evidence: ['1 of 2', '/mcp#tides'] },
  },
  {
    name: 'a tool answers with a JSON-RPC error that holds the challenge',
    seen: withTools(toolResource({ binding: null, isError: null }, null, challengeV2())),
    expect: {
      status: 'fail',
      outcome: 'missing',
      evidence: ['sends its challenge outside the result of the tool'],
    },
  },
  {
    name: 'a tool sends the challenge only as text',
    seen: withTools(toolResource({}, null, challengeV2())),
    expect: { status: 'warn', outcome: 'text-only', evidence: ['only in content[0].text'] },
  },
  {
    name: 'a tool sends the challenge only in its structured result',
    seen: withTools(toolResource({}, challengeV2(), 'Payment required')),
    expect: { status: 'warn', outcome: 'structured-only' },
  },
  {
    name: 'the text of a tool asks for another amount',
    seen: withTools(
      toolResource({}, challengeV2(), challengeV2({ accepts: [offer({ amount: '1' })] })),
    ),
    expect: { status: 'fail', outcome: 'terms-differ' },
  },
  {
    name: 'the text of a tool has another resource',
    seen: withTools(
      toolResource({}, challengeV2(), challengeV2({ resource: { url: 'mcp://tool/b' } })),
    ),
    expect: { status: 'warn', outcome: 'differs', evidence: ['/resource/url', 'content[0].text'] },
  },
  {
    name: 'a tool asks by its result, although both sides offer the extension',
    seen: withTools(toolResource({ extension: 'both' })),
    expect: { status: 'warn', outcome: 'other-binding' },
  },
  {
    name: 'the result of a tool has a version 1 challenge',
    seen: withTools(toolResource({}, challengeV1())),
    expect: { status: 'fail', outcome: 'v1-only', evidence: ['in the result'] },
  },
  {
    name: 'the only POST answers 422, without a challenge',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
