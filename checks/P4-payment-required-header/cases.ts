import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
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

type Given = ReturnType<typeof answer>;

function given(...answers: readonly Given[]): CheckCase['seen'] {
  return {
    resources: resources(answers.map((get, index) => resource({ path: `/${index}`, get }))),
  };
}

function tools(...probed: readonly ReturnType<typeof toolResource>[]): CheckCase['seen'] {
  return { resources: resources(probed) };
}

const EXTENSION = { binding: 'extension', isError: false } as const;

function header(value: string): CheckCase['seen'] {
  return given(challenge402(challengeV2(), { header: value, body: challengeV2() }));
}

function body(body: JsonObject, challenge = challengeV2()): CheckCase['seen'] {
  return given(challenge402(challenge, { body }));
}

function cached(headers: Headers): CheckCase['seen'] {
  return given(challenge402(challengeV2(), { headers }));
}

/** A challenge whose header value has exactly so many characters (a multiple of four). */
function ofLength(chars: number): JsonObject {
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

/** A challenge whose base64 needs so many "=" at its end, without them. */
function unpadded(missing: 1 | 2): string {
  const errors = ['a', 'ab', 'abc'].map((error) => encodeChallenge(challengeV2({ error })));
  const padded = errors.find(
    (text) => text.endsWith('='.repeat(missing)) && !text.endsWith('='.repeat(missing + 1)),
  );
  return (padded ?? '').replace(/=+$/, '');
}

const cases: readonly CheckCase[] = [
  ...([1, 2] as const).map(
    (missing): CheckCase => ({
      name: `base64 that lacks ${missing} of its padding`,
      seen: header(unpadded(missing)),
      expect: {
        status: 'warn',
        outcome: 'unpadded',
        evidence: ['TypeScript', 'Python', 'no padding'],
      },
    }),
  ),
  {
    name: 'half of the padding',
    seen: header(`${unpadded(2)}=`),
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['wrong padding'] },
  },
  {
    name: 'a head of 16 KiB',
    seen: given(challenge402(challengeV2(), { headers: { 'x-filler': 'x'.repeat(16_384) } })),
    expect: { status: 'fail', outcome: 'long-head', evidence: ['bytes of headers', 'Node'] },
  },
  {
    name: 'a head of a little under 16 KiB',
    seen: given(challenge402(challengeV2(), { headers: { 'x-filler': 'x'.repeat(14_000) } })),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'an offer more in the body, the shared ones agreeing',
    seen: body(challengeV2({ accepts: [offer(), offer({ payTo: OTHER_PAY_TO })] })),
    expect: {
      status: 'warn',
      outcome: 'differs',
      evidence: ['only the body asks for', '/accepts/1'],
    },
  },
  {
    name: 'another offer on each side of a shared one',
    seen: body(
      challengeV2({ accepts: [offer(), offer({ amount: '1' })] }),
      challengeV2({ accepts: [offer(), offer({ amount: '2' })] }),
    ),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['only the body asks for "1"'] },
  },
  {
    name: 'recipients that differ after eighty characters',
    seen: body(
      challengeV2({ accepts: [offer({ payTo: `${'x'.repeat(90)}1` })] }),
      challengeV2({ accepts: [offer({ payTo: `${'x'.repeat(90)}2` })] }),
    ),
    expect: { status: 'fail', outcome: 'terms-differ' },
  },
  {
    name: 'only a version 1 body',
    seen: given(bodyChallenge402()),
    expect: { status: 'fail', outcome: 'v1-only', evidence: ['GET /0', 'version 1'] },
  },
  {
    name: 'version 1 in the header of version 2',
    seen: given(challenge402(challengeV1())),
    expect: { status: 'fail', outcome: 'v1-only', evidence: ['x402Version 1 in PAYMENT-REQUIRED'] },
  },
  {
    name: 'the official client cannot pay a challenge only in a version 2 body',
    seen: given(bodyChallenge402(challengeV2())),
    expect: { status: 'fail', outcome: 'missing', evidence: ['1 of 1', 'GET /0'] },
  },
  {
    name: 'one of two resources lacks the header',
    seen: given(challenge402(), bodyChallenge402(challengeV2())),
    expect: { status: 'fail', outcome: 'missing', evidence: ['1 of 2', 'GET /1'] },
  },
  {
    name: 'the header comes twice',
    seen: given(
      answer(402, challengeV2(), {
        'payment-required': [encodeChallenge(challengeV2()), encodeChallenge(challengeV2())],
      }),
    ),
    expect: { status: 'fail', outcome: 'repeated', evidence: ['sent 2 times'] },
  },
  {
    name: 'JSON as it is',
    seen: header(JSON.stringify(challengeV2())),
    expect: { status: 'fail', outcome: 'raw-json', evidence: ['x402Version'] },
  },
  {
    name: 'base64url',
    seen: header(base64url),
    expect: { status: 'fail', outcome: 'base64url', evidence: ['base64url'] },
  },
  {
    name: 'base64 of text that is not JSON',
    seen: header('cGF5IG1l'),
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['"cGF5IG1l"'] },
  },
  {
    name: 'base64 of a list',
    seen: header(encodeChallenge([])),
    expect: { status: 'fail', outcome: 'undecodable', evidence: ['no object'] },
  },
  {
    name: 'a header without accepts, which are in the body',
    seen: header(encodeChallenge({ price: '0.01' })),
    expect: { status: 'fail', outcome: 'not-a-challenge', evidence: ['{"price":"0.01"}'] },
  },
  {
    name: 'another amount in the body',
    seen: body(challengeV2({ accepts: [offer({ amount: '20000' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['"20000"', '/accepts/0'] },
  },
  {
    name: 'another recipient in the body',
    seen: body(challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: [OTHER_PAY_TO] },
  },
  {
    name: 'another network in the body',
    seen: body(challengeV2({ accepts: [offer({ network: 'eip155:84532' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['eip155:84532'] },
  },
  {
    name: 'another scheme in the body, on the same terms',
    seen: body(challengeV2({ accepts: [offer({ scheme: 'upto' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['"upto"', '/accepts/0'] },
  },
  {
    name: 'values of every other type than text',
    seen: body(
      challengeV2({ accepts: [offer({ scheme: { toString: 1 }, payTo: { toString: 1 } })] }),
    ),
    expect: { status: 'fail', outcome: 'terms-differ' },
  },
  {
    name: 'a version 1 body for old clients with another amount',
    seen: body(challengeV1({ accepts: [offerV1({ maxAmountRequired: '9999' })] })),
    expect: { status: 'fail', outcome: 'terms-differ', evidence: ['"9999"'] },
  },
  {
    name: 'an offer that only the header has',
    seen: body(challengeV2(), challengeV2({ accepts: [offer(), offer(SOLANA)] })),
    expect: { status: 'warn', outcome: 'differs', evidence: ['2 offers, 1 in the body'] },
  },
  {
    name: 'another resource URL in the body',
    seen: body(challengeV2({ resource: { url: `${ORIGIN}/other` } })),
    expect: { status: 'warn', outcome: 'differs', evidence: ['/resource/url'] },
  },
  {
    name: 'another timeout in the body',
    seen: body(challengeV2({ accepts: [offer({ maxTimeoutSeconds: 60 })] })),
    expect: { status: 'warn', outcome: 'differs', evidence: ['/accepts/0/maxTimeoutSeconds'] },
  },
  {
    name: '8196 characters',
    seen: given(challenge402(ofLength(8_196))),
    expect: { status: 'warn', outcome: 'too-long', evidence: ['8196 characters'] },
  },
  {
    name: '8192 characters',
    seen: given(challenge402(ofLength(8_192))),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'no Cache-Control',
    seen: given(answer(402, {}, { 'payment-required': encodeChallenge(challengeV2()) })),
    expect: { status: 'warn', outcome: 'cacheable', evidence: ['without Cache-Control'] },
  },
  {
    name: 'a 402 that caches may keep',
    seen: cached({ 'cache-control': 'public, max-age=60' }),
    expect: { status: 'warn', outcome: 'cacheable', evidence: ['"public, max-age=60"'] },
  },
  {
    name: 'no-cache still lets caches keep it',
    seen: cached({ 'cache-control': 'no-cache' }),
    expect: { status: 'warn', outcome: 'cacheable', evidence: ['"no-cache"'] },
  },
  {
    name: 'private, with other directives',
    seen: cached({ 'cache-control': 'Private, max-age=0' }),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'no-store in the second of two headers',
    seen: cached({ 'cache-control': ['max-age=0', 'no-store'] }),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'Express: header, {} as the body',
    seen: given(challenge402()),
    expect: { status: 'pass', outcome: 'sound', evidence: ['1 of 1'] },
  },
  {
    name: 'the same offers in another order, other error text, more members',
    seen: body(
      challengeV2({ accepts: [offer(SOLANA), offer()], error: 'Pay first', hint: 'see /docs' }),
      challengeV2({ accepts: [offer(), offer(SOLANA)] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'addresses in another case',
    seen: body(
      challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO.toLowerCase() })] }),
      challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO })] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'the same terms under version 1 names',
    seen: body(challengeV1(), challengeV2({ accepts: [offer(), offer(SOLANA)] })),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'two schemes on the same terms, in another order, with members of their own',
    seen: body(
      challengeV2({ accepts: [UPTO, offer()] }),
      challengeV2({ accepts: [offer(), UPTO] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'one scheme by two transfer methods, in another order',
    seen: body(
      challengeV2({ accepts: [PERMIT2, offer()] }),
      challengeV2({ accepts: [offer(), PERMIT2] }),
    ),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'extensions that only the header has',
    seen: body(challengeV2(), challengeV2({ extensions: { bazaar: { info: {} } } })),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'an authentication header beside it does not matter',
    seen: cached({ 'www-authenticate': 'Payment id="d41d8cd9"' }),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'a tool answers with the challenge, structured and as text',
    seen: tools(toolResource()),
    expect: { status: 'pass', outcome: 'sound', evidence: ['structured result', '1 of 1'] },
  },
  {
    name: 'a tool asks for payment by the extension that the request offered',
    seen: tools(toolResource({ ...EXTENSION, extension: 'both' }, challengeV2(), '')),
    expect: { status: 'pass', outcome: 'sound' },
  },
  {
    name: 'a tool asks by an extension that nobody offered',
    seen: tools(toolResource(EXTENSION, challengeV2(), '')),
    expect: { status: 'fail', outcome: 'not-an-error', evidence: ['/mcp#forecast'] },
  },
  {
    name: 'a tool result with a challenge that is not an error',
    seen: tools(toolResource(), toolResource({ name: 'tides', isError: false })),
    expect: { status: 'fail', outcome: 'not-an-error', evidence: ['1 of 2', '/mcp#tides'] },
  },
  {
    name: 'a tool with the challenge only in its text',
    seen: tools(toolResource({}, null, challengeV2())),
    expect: { status: 'warn', outcome: 'text-only', evidence: ['only in content[0].text'] },
  },
  {
    name: 'a tool with the challenge only in its structured result',
    seen: tools(toolResource({}, challengeV2(), 'Payment required')),
    expect: { status: 'warn', outcome: 'structured-only' },
  },
  {
    name: 'the text of a tool asks for another amount',
    seen: tools(
      toolResource({}, challengeV2(), challengeV2({ accepts: [offer({ amount: '1' })] })),
    ),
    expect: { status: 'fail', outcome: 'terms-differ' },
  },
  {
    name: 'the text of a tool has another resource',
    seen: tools(
      toolResource({}, challengeV2(), challengeV2({ resource: { url: 'mcp://tool/b' } })),
    ),
    expect: { status: 'warn', outcome: 'differs', evidence: ['/resource/url', 'content[0].text'] },
  },
  {
    name: 'a tool result although both offer the extension',
    seen: tools(toolResource({ extension: 'both' })),
    expect: { status: 'warn', outcome: 'other-binding' },
  },
  {
    name: 'version 1 in the result of a tool',
    seen: tools(toolResource({}, challengeV1())),
    expect: { status: 'fail', outcome: 'v1-only', evidence: ['in the result'] },
  },
  {
    name: 'no challenge was seen, and P2 did not fail',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
