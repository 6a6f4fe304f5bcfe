import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  manifestDocument,
  NOT_FOUND,
  ORIGIN,
  OTHER_PAY_TO,
  offer,
  offerV1,
  PAY_TO,
  resource,
  resources,
  USDC_BASE,
  USDC_BASE_SEPOLIA,
} from '../../test/fixtures/observations/build-observations.ts';
import { offering } from '../../test/fixtures/observations/seen-challenges.ts';

const SUI = { network: 'sui:mainnet', asset: '0x2::sui::SUI', payTo: '0x1eb7', extra: {} };

const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  extra: { feePayer: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
};
const noManifest = { manifest: NOT_FOUND };

function paying(...changes: readonly JsonObject[]): CheckCase['seen'] {
  const accepts = changes.map((change) => offer(change));
  const get = challenge402(challengeV2({ accepts }));
  return { resources: resources([resource({ get })]), ...noManifest };
}

function perResource(...payTo: readonly string[]): CheckCase['seen'] {
  const each = payTo.map((one, index) =>
    resource({
      path: `/${index}`,
      get: challenge402(challengeV2({ accepts: [offer({ payTo: one })] })),
    }),
  );
  return { resources: resources(each), ...noManifest };
}

function manifest(changes: JsonObject): CheckCase['seen'] {
  return {
    resources: resources([resource()]),
    manifest: answer(200, manifestDocument(changes)),
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'a line break behind the recipient',
    seen: paying({ payTo: `${PAY_TO}\n` }),
    expect: { status: 'fail', outcome: 'malformed', evidence: [`"${PAY_TO}\\n"`] },
  },
  {
    name: 'an offer to another recipient only in the body, beside the shared one',
    seen: {
      ...noManifest,
      resources: resources([
        resource({
          get: challenge402(challengeV2(), {
            body: challengeV2({ accepts: [offer(), offer({ payTo: OTHER_PAY_TO })] }),
          }),
        }),
      ]),
    },
    expect: { status: 'pass', outcome: 'consistent', evidence: ['1 of 1'] },
  },
  {
    name: 'no recipient',
    seen: paying({ payTo: undefined }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['/accepts/0/payTo is missing'] },
  },
  {
    name: 'a name in place of an address',
    seen: paying({ payTo: 'seller.eth' }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['"seller.eth"'] },
  },
  {
    name: 'a Solana address that is not base58',
    seen: paying({ ...SOLANA, payTo: '0OIl' }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['"0OIl"'] },
  },
  {
    name: 'the zero address',
    seen: paying({ payTo: `0x${'0'.repeat(40)}` }),
    expect: { status: 'fail', outcome: 'zero-address', evidence: ['0x0000'] },
  },
  {
    name: 'the token is its own recipient, in another case',
    seen: paying({ payTo: USDC_BASE.toLowerCase() }),
    expect: { status: 'fail', outcome: 'asset-as-recipient', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'one letter in the wrong case',
    seen: paying({ payTo: PAY_TO.replace('C', 'c') }),
    expect: { status: 'fail', outcome: 'bad-checksum', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'another recipient in the body',
    seen: {
      resources: resources([
        resource({
          get: challenge402(challengeV2(), {
            body: challengeV2({ accepts: [offer({ payTo: OTHER_PAY_TO })] }),
          }),
        }),
      ]),
    },
    expect: {
      status: 'fail',
      outcome: 'body-differs',
      evidence: ['GET /weather', OTHER_PAY_TO.toLowerCase()],
    },
  },
  {
    name: 'another recipient in a version 1 body',
    seen: {
      resources: resources([
        resource({
          get: challenge402(challengeV2(), {
            body: challengeV1({ accepts: [offerV1({ payTo: OTHER_PAY_TO })] }),
          }),
        }),
      ]),
    },
    expect: { status: 'fail', outcome: 'body-differs' },
  },
  {
    name: 'a fresh address for each request, and the manifest names one of them',
    seen: {
      resources: resources([
        resource({
          get: [PAY_TO, OTHER_PAY_TO].map((payTo) =>
            challenge402(challengeV2({ accepts: [offer({ payTo })] })),
          ),
        }),
      ]),
    },
    expect: { status: 'fail', outcome: 'manifest-differs', evidence: [OTHER_PAY_TO, '/payTo'] },
  },
  {
    name: 'a fresh address for each request, and no document names one',
    seen: {
      ...manifest({ payTo: undefined }),
      resources: resources([
        resource({
          get: [PAY_TO, OTHER_PAY_TO].map((payTo) =>
            challenge402(challengeV2({ accepts: [offer({ payTo })] })),
          ),
        }),
      ]),
    },
    expect: {
      status: 'warn',
      outcome: 'fresh-recipient',
      evidence: [OTHER_PAY_TO.toLowerCase(), 'asked again'],
    },
  },
  {
    name: 'a malformed recipient beside a sound one is the finding of P3',
    seen: paying({}, { payTo: 'me' }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'another recipient of a scheme that nobody knows is the finding of P3',
    seen: paying({}, { scheme: 'barter', payTo: OTHER_PAY_TO }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'a bad checksum beside a sound offer is still one',
    seen: paying({}, { payTo: PAY_TO.replace('C', 'c') }),
    expect: { status: 'fail', outcome: 'bad-checksum' },
  },
  {
    name: 'values of every other type than text',
    seen: paying({ network: { toString: 1 }, payTo: { toString: 1 } }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'the manifest names another recipient for all',
    seen: manifest({ payTo: OTHER_PAY_TO }),
    expect: {
      status: 'fail',
      outcome: 'manifest-differs',
      evidence: [OTHER_PAY_TO, '/.well-known/x402#/payTo'],
    },
  },
  {
    name: 'the manifest names another recipient for the resource',
    seen: manifest({ endpoints: [{ resource: `${ORIGIN}/weather`, payTo: OTHER_PAY_TO }] }),
    expect: {
      status: 'fail',
      outcome: 'manifest-differs',
      evidence: ['/endpoints/0/payTo', OTHER_PAY_TO],
    },
  },
  {
    name: 'a marketplace: each resource pays its own seller',
    seen: perResource(PAY_TO, OTHER_PAY_TO),
    expect: {
      status: 'warn',
      outcome: 'several-recipients',
      evidence: ['2 recipients', PAY_TO.toLowerCase(), OTHER_PAY_TO.toLowerCase()],
    },
  },
  {
    name: 'one recipient a network, two of one family',
    seen: paying(
      {},
      {
        network: 'eip155:84532',
        asset: USDC_BASE_SEPOLIA,
        extra: { name: 'USDC', version: '2' },
        payTo: OTHER_PAY_TO,
      },
    ),
    expect: { status: 'warn', outcome: 'several-recipients', evidence: ['2 recipients'] },
  },
  {
    name: 'one recipient on Base, one on Solana',
    seen: paying({}, SOLANA),
    expect: { status: 'pass', outcome: 'consistent', evidence: [SOLANA.payTo] },
  },
  {
    name: 'one recipient in two spellings',
    seen: perResource(PAY_TO, PAY_TO.toLowerCase()),
    expect: { status: 'pass', outcome: 'consistent', evidence: ['2 of 2'] },
  },
  {
    name: 'a manifest that names the recipient of another family says nothing of this one',
    seen: manifest({ payTo: SOLANA.payTo }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'a manifest entry of another resource may pay somebody else',
    seen: manifest({
      endpoints: [{ resource: `${ORIGIN}/other`, payTo: OTHER_PAY_TO }],
      payTo: PAY_TO,
    }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'an address of a family that is not known here',
    seen: paying({ network: 'valueof:x', asset: 'USDC', payTo: 'GA5ZSEJYB37JRC5AVCIA5' }),
    expect: { status: 'pass', outcome: 'consistent', evidence: ['GA5ZSEJYB37JRC5AVCIA5'] },
  },
  {
    name: 'version 1, only in the body',
    seen: { resources: resources([resource({ get: bodyChallenge402() })]) },
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'all right',
    seen: {},
    expect: { status: 'pass', outcome: 'consistent', evidence: ['2 of 2', PAY_TO.toLowerCase()] },
  },
  {
    name: 'no challenge was seen, and P2 did not fail',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
  {
    name: 'only an offer that is known and not judged',
    seen: offering(SUI),
    expect: {
      status: 'warn',
      outcome: 'named',
      basis: 'not_determined',
      evidence: ['"exact" on "sui:mainnet" is known, not judged here'],
    },
  },
  {
    name: 'an offer that is known and not judged, beside a judged one',
    seen: offering(SUI, {}),
    expect: { status: 'pass', outcome: 'consistent' },
  },
];

export default cases;
