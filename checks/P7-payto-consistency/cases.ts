import type { CheckCase } from '#check';
import type { JsonObject } from '#parse/json';
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
const NO_MANIFEST = { manifest: NOT_FOUND };

function withOffers(...changes: readonly JsonObject[]): CheckCase['seen'] {
  const accepts = changes.map((change) => offer(change));
  const get = challenge402(challengeV2({ accepts }));
  return { resources: resources([resource({ get })]), ...NO_MANIFEST };
}

function withRecipients(...payTo: readonly string[]): CheckCase['seen'] {
  const list = payTo.map((address, index) =>
    resource({
      path: `/${index}`,
      get: challenge402(challengeV2({ accepts: [offer({ payTo: address })] })),
    }),
  );
  return { resources: resources(list), ...NO_MANIFEST };
}

function withManifest(changes: JsonObject): CheckCase['seen'] {
  return {
    resources: resources([resource()]),
    manifest: answer(200, manifestDocument(changes)),
  };
}

const UNKNOWN_SCHEME = { scheme: 'nvm:erc4337', asset: undefined, amount: undefined, extra: {} };
const NOT_JUDGED = { status: 'warn', basis: 'not_determined' } as const;

/** Challenges without an offer of a known scheme, or without any offer. */
const UNKNOWN_CASES: readonly CheckCase[] = [
  {
    name: 'an offer by "exact" on an unknown network names no recipient',
    seen: withOffers({ network: 'fuse:122', asset: 'USDC', payTo: undefined }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['/accepts/0/payTo is missing'] },
  },
  {
    name: 'accepts is empty',
    seen: withOffers(),
    expect: { ...NOT_JUDGED, outcome: 'no-offer', evidence: ['/accepts: [] (see P3)'] },
  },
  {
    name: 'an unknown scheme names no recipient',
    seen: withOffers({ ...UNKNOWN_SCHEME, payTo: undefined }),
    expect: { ...NOT_JUDGED, outcome: 'unknown', evidence: ['"nvm:erc4337"'] },
  },
  {
    name: 'an unknown scheme names a recipient that is not an address',
    seen: withOffers({ ...UNKNOWN_SCHEME, payTo: 'merchant-7' }),
    expect: { ...NOT_JUDGED, outcome: 'unknown', evidence: ['"nvm:erc4337"'] },
  },
  {
    name: 'an unknown scheme pays to an address',
    seen: withOffers(UNKNOWN_SCHEME),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'an unknown scheme pays to zero',
    seen: withOffers({ ...UNKNOWN_SCHEME, payTo: `0x${'0'.repeat(40)}` }),
    expect: { status: 'fail', outcome: 'zero-address', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'an unknown scheme pays to its asset',
    seen: withOffers({ ...UNKNOWN_SCHEME, asset: PAY_TO }),
    expect: { status: 'fail', outcome: 'asset-as-recipient', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'an unknown network pays to an address with a wrong checksum',
    seen: withOffers({ network: 'zcash:main', asset: 'ZEC', payTo: PAY_TO.replace('C', 'c') }),
    expect: { status: 'fail', outcome: 'bad-checksum', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'header and body differ, and the recipient in the header is malformed',
    seen: {
      resources: resources([
        resource({
          get: challenge402(challengeV2({ accepts: [offer({ payTo: 'me' })] }), {
            body: challengeV2(),
          }),
        }),
      ]),
      ...NO_MANIFEST,
    },
    expect: {
      status: 'fail',
      outcome: 'malformed',
      evidence: ['in its header, which differs from its body: /accepts/0/payTo'],
    },
  },
];

const cases: readonly CheckCase[] = [
  ...UNKNOWN_CASES,
  {
    name: 'the recipient ends with a line break',
    seen: withOffers({ payTo: `${PAY_TO}\n` }),
    expect: { status: 'fail', outcome: 'malformed', evidence: [`"${PAY_TO}\\n"`] },
  },
  {
    name: 'the body has one offer more, to another recipient',
    seen: {
      ...NO_MANIFEST,
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
    name: 'the recipient is missing',
    seen: withOffers({ payTo: undefined }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['/accepts/0/payTo is missing'] },
  },
  {
    name: 'the recipient is a name',
    seen: withOffers({ payTo: 'seller.eth' }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['"seller.eth"'] },
  },
  {
    name: 'the recipient on Solana is not base58',
    seen: withOffers({ ...SOLANA, payTo: '0OIl' }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['"0OIl"'] },
  },
  {
    name: 'the recipient is the zero address',
    seen: withOffers({ payTo: `0x${'0'.repeat(40)}` }),
    expect: { status: 'fail', outcome: 'zero-address', evidence: ['0x0000'] },
  },
  {
    name: 'the recipient is the token, in lower case',
    seen: withOffers({ payTo: USDC_BASE.toLowerCase() }),
    expect: { status: 'fail', outcome: 'asset-as-recipient', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'one letter of the recipient has the wrong case',
    seen: withOffers({ payTo: PAY_TO.replace('C', 'c') }),
    expect: { status: 'fail', outcome: 'bad-checksum', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'the body names another recipient',
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
    name: 'a version 1 body names another recipient',
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
    name: 'each request gets another recipient, and the manifest names one of them',
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
    name: 'each request gets another recipient, and no document names one',
    seen: {
      ...withManifest({ payTo: undefined }),
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
    name: 'one offer is sound, another has a malformed recipient',
    seen: withOffers({}, { payTo: 'me' }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'one offer is sound, another has another recipient and an unknown scheme',
    seen: withOffers({}, { scheme: 'barter', payTo: OTHER_PAY_TO }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'one offer is sound, another has a recipient with a wrong checksum',
    seen: withOffers({}, { payTo: PAY_TO.replace('C', 'c') }),
    expect: { status: 'fail', outcome: 'bad-checksum' },
  },
  {
    name: 'network and recipient are objects',
    seen: withOffers({ network: { toString: 1 }, payTo: { toString: 1 } }),
    expect: { status: 'fail', outcome: 'malformed', evidence: ['/accepts/0/payTo'] },
  },
  {
    name: 'the manifest names another recipient for all resources',
    seen: withManifest({ payTo: OTHER_PAY_TO }),
    expect: {
      status: 'fail',
      outcome: 'manifest-differs',
      evidence: [OTHER_PAY_TO, '/.well-known/x402#/payTo'],
    },
  },
  {
    name: 'the manifest names another recipient for the resource',
    seen: withManifest({ endpoints: [{ resource: `${ORIGIN}/weather`, payTo: OTHER_PAY_TO }] }),
    expect: {
      status: 'fail',
      outcome: 'manifest-differs',
      evidence: ['/endpoints/0/payTo', OTHER_PAY_TO],
    },
  },
  {
    name: 'each resource of a marketplace pays another seller',
    seen: withRecipients(PAY_TO, OTHER_PAY_TO),
    expect: {
      status: 'warn',
      outcome: 'several-recipients',
      evidence: ['2 recipients', PAY_TO.toLowerCase(), OTHER_PAY_TO.toLowerCase()],
    },
  },
  {
    name: 'two EVM networks have two recipients',
    seen: withOffers(
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
    name: 'Base has one recipient, Solana another',
    seen: withOffers({}, SOLANA),
    expect: { status: 'pass', outcome: 'consistent', evidence: [SOLANA.payTo] },
  },
  {
    name: 'two resources write one recipient in upper and in lower case',
    seen: withRecipients(PAY_TO, PAY_TO.toLowerCase()),
    expect: { status: 'pass', outcome: 'consistent', evidence: ['2 of 2'] },
  },
  {
    name: 'the manifest names only a recipient on Solana, and the offer is on Base',
    seen: withManifest({ payTo: SOLANA.payTo }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'the manifest names another recipient for another resource',
    seen: withManifest({
      endpoints: [{ resource: `${ORIGIN}/other`, payTo: OTHER_PAY_TO }],
      payTo: PAY_TO,
    }),
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'the recipient is on an unknown network',
    seen: withOffers({ network: 'valueof:x', asset: 'USDC', payTo: 'GA5ZSEJYB37JRC5AVCIA5' }),
    expect: { status: 'pass', outcome: 'consistent', evidence: ['GA5ZSEJYB37JRC5AVCIA5'] },
  },
  {
    name: 'a version 1 challenge is only in the body',
    seen: { resources: resources([resource({ get: bodyChallenge402() })]) },
    expect: { status: 'pass', outcome: 'consistent' },
  },
  {
    name: 'both resources and the manifest name one recipient',
    seen: {},
    expect: { status: 'pass', outcome: 'consistent', evidence: ['2 of 2', PAY_TO.toLowerCase()] },
  },
  {
    name: 'the only POST answers 422, without a challenge',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
  {
    name: 'the only offer is on Sui, which is not judged',
    seen: offering(SUI),
    expect: {
      status: 'warn',
      outcome: 'named',
      basis: 'not_determined',
      evidence: ['"exact" on "sui:mainnet" is known, not judged here'],
    },
  },
  {
    name: 'one offer is on Sui, which is not judged, another on Base',
    seen: offering(SUI, {}),
    expect: { status: 'pass', outcome: 'consistent' },
  },
];

export default cases;
