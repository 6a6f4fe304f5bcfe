import type { CheckCase } from '#check';
import type { JsonObject } from '#parse/json';
import {
  answer,
  challengeV2,
  ORIGIN,
  offer,
  perfectSeller,
  resource,
  resources,
  toolResource,
  USDC_BASE_SEPOLIA,
} from '../../test/fixtures/observations/build-observations.ts';
import { FIELD_OFFER_CASES } from '../../test/fixtures/observations/field-offer-cases.ts';
import { SCHEME_CASES } from '../../test/fixtures/observations/scheme-cases.ts';
import {
  DOMAIN,
  offering,
  passes,
  SOLANA,
  url,
  v1,
  v2,
  warns,
  withVerdicts,
} from '../../test/fixtures/observations/seen-challenges.ts';
import {
  EXTREME_OFFERS,
  UNSETTLED_OFFERS,
} from '../../test/fixtures/observations/unsettled-offers.ts';

const SEPOLIA_DOMAIN = { name: 'USDC', version: '2' };

/** One official client accepts the challenge and the other refuses it. The evidence names both. */
function clientsDiffer(name: string, seen: CheckCase['seen'], evidence: string): CheckCase {
  const both = [evidence, 'Python', 'TypeScript'];
  return { name, seen, expect: { status: 'warn', outcome: 'clients-differ', evidence: both } };
}

function noDomain(name: string, change: JsonObject, evidence: string): CheckCase {
  const expect = { status: 'fail', outcome: 'no-domain', evidence: [evidence] } as const;
  return { name, seen: offering(change), expect };
}

/** One member of the offer is not as version 2 requires. */
function badField(name: string, change: JsonObject, ...evidence: readonly string[]): CheckCase {
  return {
    name,
    seen: offering(change),
    expect: { status: 'fail', outcome: 'bad-field', evidence },
  };
}

const HTTP_ORIGIN = {
  ...perfectSeller().origin,
  url: 'http://seller.example',
  scheme: 'http' as const,
};

const DECIMAL = { amount: '0.05' };
const OWN_TOKEN = { asset: `0x${'ab'.repeat(20)}`, extra: { name: 'Token', version: '1' } };
const ERC7710 = { extra: { assetTransferMethod: 'erc7710' } };
const LONG_ID = 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=';
const ALGORAND = {
  network: 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k',
  asset: '31566704',
  payTo: 'RESOURCESERVERADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALTSRPAE',
  extra: {},
};
const BARTER = { scheme: 'barter' };

/** The only offer lacks a member of `extra` that its scheme needs, and the official client says so. */
function lacksMember(name: string, change: JsonObject, member: string): CheckCase {
  const pointer = `/accepts/0/extra/${member}`;
  return {
    name,
    seen: { ...offering(change), ...withVerdicts('nobody', ['refuses', `${member} is required`]) },
    expect: {
      status: 'fail',
      outcome: 'missing-member',
      evidence: [pointer, 'the official client says', `${member} is required`],
    },
  };
}

function timeoutCase(maxTimeoutSeconds: number, outcome: 'timeout' | 'valid'): CheckCase {
  return {
    name: `a timeout of ${maxTimeoutSeconds} seconds`,
    seen: offering({ maxTimeoutSeconds }),
    expect: { status: outcome === 'valid' ? 'pass' : 'warn', outcome },
  };
}

const UNSETTLED_CASES: readonly CheckCase[] = [
  ...UNSETTLED_OFFERS.map(({ name, change, outcome, evidence }): CheckCase => {
    return { name, seen: offering(change), expect: { status: 'fail', outcome, evidence } };
  }),
  ...EXTREME_OFFERS.map(({ name, change }) => passes(name, offering(change))),
  {
    name: 'clients sign the only offer, and facilitators refuse it',
    seen: {
      ...offering({ extra: SEPOLIA_DOMAIN }),
      ...withVerdicts('nobody', [
        'refuses',
        'clients sign it, facilitators refuse it: /accepts/0/extra/name is "USDC"',
      ]),
    },
    expect: {
      status: 'fail',
      outcome: 'wrong-domain',
      evidence: [
        '/accepts/0/extra/name: "USDC" is not "USD Coin" (clients sign it, facilitators refuse it)',
      ],
    },
  },
];

const PAYABLE_CASES: readonly CheckCase[] = [
  lacksMember(
    'an XRPL offer in an issued currency lacks its issuer',
    {
      network: 'xrpl:0',
      asset: 'USD',
      amount: '10.5',
      payTo: 'rN7n3473SaZBCG4dFL83w7a1RXtXtbk2D9',
      extra: { areFeesSponsored: false },
    },
    'issuer',
  ),
  badField('an unknown flow', { extra: { ...DOMAIN, paymentFlow: 'lottery' } }, '"lottery"'),
  badField('a chain by its name', { network: 'eip155:base-mainnet' }, '"eip155:base-mainnet"'),
  badField('a Solana by its name', { ...SOLANA, network: 'solana:mainnet' }, '"solana:mainnet"'),
  badField('a junk recipient on Solana', { ...SOLANA, payTo: 'junk' }, '/accepts/0/payTo: "junk"'),
  timeoutCase(1, 'timeout'),
  timeoutCase(5, 'timeout'),
  timeoutCase(6, 'valid'),
  timeoutCase(86_400, 'valid'),
  timeoutCase(86_401, 'timeout'),
  {
    name: 'a decimal amount in the first offer keeps clients from the second',
    seen: {
      ...offering(DECIMAL, {}),
      ...withVerdicts('settings', ['refuses', 'Cannot convert'], ['signs']),
    },
    expect: {
      status: 'warn',
      outcome: 'unsound-offer',
      evidence: ['/accepts/0/amount: "0.05"', 'Cannot convert'],
    },
  },
  {
    name: 'default clients pay the first offer, and the second has a decimal amount',
    seen: { ...offering({}, DECIMAL), ...withVerdicts('default', ['signs'], ['refuses']) },
    expect: { status: 'pass', outcome: 'valid', evidence: ['/accepts/1/amount: "0.05"'] },
  },
  {
    name: 'the second entry of accepts is null, and clients throw',
    seen: {
      ...v2(challengeV2({ accepts: [offer(), null] })),
      ...withVerdicts('settings', ['signs'], ['refuses', 'Cannot read properties of null']),
    },
    expect: { status: 'warn', outcome: 'unsound-offer', evidence: ['/accepts/1 is empty (null)'] },
  },
  {
    name: 'the only offer is by ERC-7710, which no client pays',
    seen: {
      ...offering(ERC7710),
      ...withVerdicts('unknown', ['unsupported', 'EIP-712 domain parameters']),
    },
    expect: {
      status: 'warn',
      outcome: 'client-refuses',
      evidence: ['"erc7710" is in specs/schemes/exact/scheme_exact_evm.md', 'EIP-712 domain'],
    },
  },
  {
    name: 'default clients pay the first offer, and the second is by ERC-7710',
    seen: { ...offering({}, ERC7710), ...withVerdicts('default', ['signs'], ['unsupported']) },
    expect: { status: 'pass', outcome: 'valid', evidence: ['erc7710', '(client-refuses)'] },
  },
  {
    name: 'the first offer is by ERC-7710, and the client throws',
    seen: { ...offering(ERC7710, {}), ...withVerdicts('settings', ['unsupported'], ['signs']) },
    expect: { status: 'warn', outcome: 'client-refuses', evidence: ['/accepts/0'] },
  },
  {
    name: 'the client refuses an offer that the specification allows',
    seen: { ...offering({}), ...withVerdicts('nobody', ['refuses', 'not today']) },
    expect: {
      status: 'warn',
      outcome: 'client-refuses',
      evidence: ['scheme_exact_evm.md', 'not today'],
    },
  },
  {
    name: 'the only offer asks for a token outside the default spend controls',
    seen: {
      ...offering(OWN_TOKEN),
      ...withVerdicts('settings', ['limited', 'only default assets']),
    },
    expect: {
      status: 'warn',
      outcome: 'unusual-asset',
      evidence: ['/accepts/0/asset', 'only default'],
    },
  },
  passes('one offer asks for an unusual token, another for a default one', {
    ...offering(OWN_TOKEN, {}),
    ...withVerdicts('default', ['limited'], ['signs']),
  }),
  passes('the price is over the default limit of clients', {
    ...offering({ amount: '5000000' }),
    ...withVerdicts('settings', ['limited', 'over $1']),
  }),
  {
    name: 'the only offer has the scheme "barter"',
    seen: offering(BARTER),
    expect: {
      status: 'warn',
      outcome: 'unknown',
      evidence: ['"barter"', 'unknown to this catalog'],
    },
  },
  warns(
    'the only offer is on an unknown network',
    offering({ network: 'valueof:x', asset: 'gold', payTo: 'me', extra: {} }),
    'unknown',
    '"valueof:x"',
  ),
  {
    name: 'one offer has the scheme "exact", another "barter"',
    seen: offering({}, BARTER),
    expect: {
      status: 'pass',
      outcome: 'valid',
      evidence: ['/accepts/1/scheme: "barter"', '(unknown)'],
    },
  },
  warns(
    'the only offer has the long id of Algorand',
    offering({ ...ALGORAND, network: LONG_ID }),
    'outdated-network',
    '/accepts/0/network',
  ),
  {
    name: 'one offer is on Base, another has the long id of Algorand',
    seen: offering({}, { ...ALGORAND, network: LONG_ID }),
    expect: { status: 'pass', outcome: 'valid', evidence: ['(outdated-network)'] },
  },
  passes('the only offer is on Algorand, which no client here pays', {
    ...offering(ALGORAND),
    ...withVerdicts('unknown', ['unsupported']),
  }),
  passes(
    'the only offer is on Base Sepolia',
    offering({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA, extra: SEPOLIA_DOMAIN }),
  ),
  {
    name: 'the clients did not try this resource',
    seen: { ...offering({}), payability: { clients: [], resources: [], silent: [] } },
    expect: { status: 'pass', outcome: 'valid' },
  },
  warns(
    'the resource URL has https and another host',
    url('https://api.seller.example/weather'),
    'other-host',
    'api.seller.example',
  ),
  {
    name: 'the resource URL has the scheme ftp',
    seen: url('ftp://seller.example/weather'),
    expect: { status: 'fail', outcome: 'bad-resource-url', evidence: ['ftp:'] },
  },
];

const cases: readonly CheckCase[] = [
  ...UNSETTLED_CASES,
  ...SCHEME_CASES,
  ...PAYABLE_CASES,
  {
    name: 'x402Version is the text "2"',
    seen: v2(challengeV2({ x402Version: '2' })),
    expect: {
      status: 'fail',
      outcome: 'wrong-version',
      evidence: ['GET /weather /x402Version: "2"'],
    },
  },
  {
    name: 'x402Version is missing',
    seen: v2(challengeV2({ x402Version: undefined })),
    expect: { status: 'fail', outcome: 'wrong-version', evidence: ['/x402Version: missing'] },
  },
  {
    name: 'x402Version is 3',
    seen: v2(challengeV2({ x402Version: 3 })),
    expect: { status: 'fail', outcome: 'wrong-version', evidence: ['/x402Version: 3'] },
  },
  {
    name: 'the offer has maxAmountRequired in place of amount',
    seen: offering({ amount: undefined, maxAmountRequired: '10000' }),
    expect: {
      status: 'fail',
      outcome: 'v1-names',
      evidence: ['/accepts/0/maxAmountRequired: "10000"'],
    },
  },
  passes('the offer has amount and maxAmountRequired', offering({ maxAmountRequired: '10000' })),
  {
    name: 'accepts is an empty list',
    seen: v2(challengeV2({ accepts: [] })),
    expect: { status: 'fail', outcome: 'no-accepts', evidence: ['/accepts: []'] },
  },
  {
    name: 'resource has no url',
    seen: v2(challengeV2({ resource: { description: 'Weather' } })),
    expect: { status: 'fail', outcome: 'bad-resource-url', evidence: ['/resource/url: missing'] },
  },
  {
    name: 'resource is text, as in version 1',
    seen: v2(challengeV2({ resource: `${ORIGIN}/weather` })),
    expect: { status: 'fail', outcome: 'bad-resource-url' },
  },
  warns(
    'the resource URL has http and another host',
    url('http://internal.example/weather'),
    'other-host',
    'internal.example',
  ),
  {
    name: 'the resource URL has a host but no scheme',
    seen: url('seller.example/weather'),
    expect: { status: 'fail', outcome: 'bad-resource-url' },
  },
  badField('an empty scheme', { scheme: '' }, '/accepts/0/scheme: ""'),
  badField('a version 1 network', { network: 'base' }, '/accepts/0/network: "base"'),
  badField('an amount in dollars', { amount: '$0.05' }, '/accepts/0/amount: "$0.05"'),
  badField('a decimal amount', { amount: '0.05' }, '/accepts/0/amount: "0.05"'),
  badField('an amount of zero', { amount: '0' }, '/accepts/0/amount: "0"'),
  badField('an amount that is a number', { amount: 10_000 }, '/accepts/0/amount: 10000'),
  badField('an amount of 79 digits', { amount: '1'.repeat(79) }, '/accepts/0/amount'),
  badField('an asset by its symbol', { asset: 'USDC' }, '/accepts/0/asset: "USDC"'),
  badField('an asset of 39 digits', { asset: `0x${'a'.repeat(39)}` }, '/accepts/0/asset'),
  badField('a recipient by name', { payTo: 'seller.eth' }, '/accepts/0/payTo: "seller.eth"'),
  badField('no payTo', { payTo: undefined }, '/accepts/0/payTo: missing'),
  badField('no timeout', { maxTimeoutSeconds: undefined }, '/accepts/0/maxTimeoutSeconds: missing'),
  badField('a timeout of zero', { maxTimeoutSeconds: 0 }, '/accepts/0/maxTimeoutSeconds: 0'),
  badField('a timeout of 1.5', { maxTimeoutSeconds: 1.5 }, '/accepts/0/maxTimeoutSeconds: 1.5'),
  badField('a timeout as text', { maxTimeoutSeconds: '300' }, '/maxTimeoutSeconds: "300"'),
  {
    name: 'one offer has three faults',
    seen: offering({ amount: '$1', asset: 'USDC', payTo: 'me' }),
    expect: {
      status: 'fail',
      outcome: 'bad-field',
      evidence: ['/accepts/0/amount: "$1"', '/accepts/0/asset', '/accepts/0/payTo'],
    },
  },
  {
    name: 'two offers have five faults',
    seen: offering({ amount: '$1', asset: 'USDC', payTo: 'me' }, { amount: '$1', asset: 'USDC' }),
    expect: {
      status: 'fail',
      outcome: 'bad-field',
      evidence: ['/accepts/0/payTo: "me"', '/accepts/1/asset: "USDC"'],
    },
  },
  warns(
    'one of two offers has a decimal amount, and no client was asked',
    offering({}, { amount: '0.05' }),
    'unsound-offer',
    '/accepts/1/amount: "0.05"',
  ),
  ...FIELD_OFFER_CASES,
  noDomain('no extra on Base', { extra: undefined }, '/accepts/0/extra/name: missing'),
  noDomain('no domain version', { extra: { name: 'USD Coin' } }, 'version: missing'),
  clientsDiffer('an error that is not text', v2(challengeV2({ error: 402 })), '/error: 402'),
  clientsDiffer(
    'a list of extensions',
    v2(challengeV2({ extensions: ['a'] })),
    '/extensions: ["a"]',
  ),
  noDomain('an unknown token', { asset: OWN_TOKEN.asset, extra: {} }, 'extra/name: missing'),
  {
    name: 'the USDC on Base has the domain name of Sepolia',
    seen: offering({ extra: { name: 'USDC', version: '2' } }),
    expect: {
      status: 'fail',
      outcome: 'wrong-domain',
      evidence: ['/accepts/0/extra/name: "USDC"'],
    },
  },
  {
    name: 'the USDC on Sepolia has the domain name of Base',
    seen: offering({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA }),
    expect: { status: 'fail', outcome: 'wrong-domain', evidence: ['"USD Coin"'] },
  },
  {
    name: 'the USDC on Base has another domain version',
    seen: offering({ extra: { name: 'USD Coin', version: '1' } }),
    expect: {
      status: 'fail',
      outcome: 'wrong-domain',
      evidence: ['/accepts/0/extra/version: "1"'],
    },
  },
  warns('a valid version 1 challenge', v1({}), 'version-1', 'GET /weather /x402Version: 1'),
  {
    name: 'a version 1 offer has the domain of another network',
    seen: v1({ network: 'base-sepolia', asset: USDC_BASE_SEPOLIA }),
    expect: { status: 'fail', outcome: 'wrong-domain', evidence: ['"USD Coin"'] },
  },
  {
    name: 'a version 1 offer has amount in place of maxAmountRequired',
    seen: v1({ maxAmountRequired: undefined, amount: '10000' }),
    expect: {
      status: 'fail',
      outcome: 'bad-field',
      evidence: ['/accepts/0/maxAmountRequired: missing'],
    },
  },
  {
    name: 'a version 1 offer has a CAIP-2 network',
    seen: v1({ network: 'eip155:8453' }),
    expect: { status: 'fail', outcome: 'bad-field', evidence: ['/accepts/0/network'] },
  },
  warns('the resource URL is a path', url('/weather'), 'relative-url', '/resource/url: "/weather"'),
  warns(
    'the resource URL of an https origin has http',
    url('http://seller.example/weather'),
    'http-url',
    'http://seller.example/weather',
  ),
  passes('the resource URL of an http origin has http', {
    ...url('http://seller.example/weather'),
    origin: HTTP_ORIGIN,
  }),
  passes('the amount has 78 digits', offering({ amount: '1'.repeat(78) })),
  passes('a Permit2 offer has no domain', offering({ extra: { assetTransferMethod: 'permit2' } })),
  passes(
    'an unknown token has a domain',
    offering({ asset: `0x${'ab'.repeat(20)}`, extra: { name: 'Token', version: '1' } }),
  ),
  passes(
    'a Solana offer has no domain',
    offering({}, { ...SOLANA, extra: { feePayer: SOLANA.payTo } }),
  ),
  passes(
    'the checksum of the recipient is wrong',
    offering({ payTo: '0x70997970c51812dc3A010C7d01b50e0d17dc79C8' }),
  ),
  passes(
    'challenge and offer have extra members, in another order',
    v2({ accepts: [{ note: 'ours', ...offer() }], extensions: {}, ...challengeV2() }),
  ),
  {
    name: 'one resource sends a valid challenge, another answers 200',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(200) })]) },
    expect: { status: 'pass', outcome: 'valid', evidence: ['1 of 2'] },
  },
  ...['mcp://tool/a', 'mcp://seller.example/tools/a'].map((url) => ({
    name: `the resource of a tool at ${url}`,
    seen: { resources: resources([toolResource({}, challengeV2({ resource: { url } }))]) },
    expect: { status: 'pass', outcome: 'valid' } as const,
  })),
  {
    name: 'the only POST answers 422, without a challenge',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
