import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
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
import { PAIR_CASES } from '../../test/fixtures/observations/pair-cases.ts';
import { offering, said, url, v1, v2 } from '../../test/fixtures/observations/seen-challenges.ts';
import {
  EXTREME_OFFERS,
  UNSETTLED_OFFERS,
} from '../../test/fixtures/observations/unsettled-offers.ts';

const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
};

const DOMAIN = { name: 'USD Coin', version: '2' };
const SEPOLIA_DOMAIN = { name: 'USDC', version: '2' };

function sound(name: string, seen: CheckCase['seen']): CheckCase {
  return { name, seen, expect: { status: 'pass', outcome: 'valid' } };
}

function warned(
  name: string,
  seen: CheckCase['seen'],
  outcome: string,
  ...evidence: readonly string[]
): CheckCase {
  return { name, seen, expect: { status: 'warn', outcome, evidence } };
}

/** One official client takes it and the other refuses it: the evidence names both. */
function differs(name: string, seen: CheckCase['seen'], evidence: string): CheckCase {
  const both = [evidence, 'Python', 'TypeScript'];
  return { name, seen, expect: { status: 'warn', outcome: 'clients-differ', evidence: both } };
}

function noDomain(name: string, change: JsonObject, evidence: string): CheckCase {
  const expect = { status: 'fail', outcome: 'no-domain', evidence: [evidence] } as const;
  return { name, seen: offering(change), expect };
}

/** A field that is not what version 2 wants, under the pointer that evidence must name. */
function badField(name: string, change: JsonObject, ...evidence: readonly string[]): CheckCase {
  return {
    name,
    seen: offering(change),
    expect: { status: 'fail', outcome: 'bad-field', evidence },
  };
}

const http = { ...perfectSeller().origin, url: 'http://seller.example', scheme: 'http' as const };

const BAD = { amount: '0.05' };
const ODD_TOKEN = { asset: `0x${'ab'.repeat(20)}`, extra: { name: 'Token', version: '1' } };
const ERC7710 = { extra: { assetTransferMethod: 'erc7710' } };
const LONG_ID = 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=';
const ALGORAND = {
  network: 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k',
  asset: '31566704',
  payTo: 'RESOURCESERVERADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALTSRPAE',
  extra: {},
};
const BARTER = { scheme: 'barter' };

/** A single offer whose `extra` lacks what its scheme needs, and who says so. */
function lacking(name: string, change: JsonObject, member: string): CheckCase {
  const pointer = `/accepts/0/extra/${member}`;
  return {
    name,
    seen: { ...offering(change), ...said('nobody', ['refuses', `${member} is required`]) },
    expect: {
      status: 'fail',
      outcome: 'missing-member',
      evidence: [pointer, 'the official client says', `${member} is required`],
    },
  };
}

function timeout(maxTimeoutSeconds: number, outcome: 'timeout' | 'valid'): CheckCase {
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
  ...EXTREME_OFFERS.map(({ name, change }) => sound(name, offering(change))),
  {
    name: 'an offer that clients sign and facilitators refuse is named',
    seen: {
      ...offering({ extra: SEPOLIA_DOMAIN }),
      ...said('nobody', [
        'refuses',
        'clients sign it, facilitators refuse it: /accepts/0/extra/name is "USDC"',
      ]),
    },
    expect: {
      status: 'fail',
      outcome: 'wrong-domain',
      evidence: ['/accepts/0/extra/name: "USDC" (clients sign it, facilitators refuse it)'],
    },
  },
];

const PAYABLE_CASES: readonly CheckCase[] = [
  lacking(
    'an issued currency of XRPL without its issuer',
    {
      network: 'xrpl:0',
      asset: 'USD',
      amount: '10.5',
      payTo: 'rN7n3473SaZBCG4dFL83w7a1RXtXtbk2D9',
      extra: { areFeesSponsored: false },
    },
    'issuer',
  ),
  badField('a flow by chance', { extra: { ...DOMAIN, paymentFlow: 'lottery' } }, '"lottery"'),
  badField('a chain by its name', { network: 'eip155:base-mainnet' }, '"eip155:base-mainnet"'),
  badField('a Solana by its name', { ...SOLANA, network: 'solana:mainnet' }, '"solana:mainnet"'),
  badField('a junk recipient on Solana', { ...SOLANA, payTo: 'junk' }, '/accepts/0/payTo: "junk"'),
  timeout(1, 'timeout'),
  timeout(5, 'timeout'),
  timeout(6, 'valid'),
  timeout(86_400, 'valid'),
  timeout(86_401, 'timeout'),
  {
    name: 'an unsound offer that hides a sound one',
    seen: { ...offering(BAD, {}), ...said('settings', ['refuses', 'Cannot convert'], ['signs']) },
    expect: {
      status: 'warn',
      outcome: 'unsound-offer',
      evidence: ['/accepts/0/amount: "0.05"', 'Cannot convert'],
    },
  },
  {
    name: 'an unsound offer behind a sound one that default clients pay',
    seen: { ...offering({}, BAD), ...said('default', ['signs'], ['refuses']) },
    expect: { status: 'pass', outcome: 'valid', evidence: ['/accepts/1/amount: "0.05"'] },
  },
  {
    name: 'an entry that is not an offer, and makes clients throw',
    seen: {
      ...v2(challengeV2({ accepts: [offer(), null] })),
      ...said('settings', ['signs'], ['refuses', 'Cannot read properties of null']),
    },
    expect: { status: 'warn', outcome: 'unsound-offer', evidence: ['/accepts/1/scheme: missing'] },
  },
  {
    name: 'only ERC-7710: the specification has it, no client pays by it',
    seen: {
      ...offering(ERC7710),
      ...said('unknown', ['unsupported', 'EIP-712 domain parameters']),
    },
    expect: {
      status: 'warn',
      outcome: 'client-refuses',
      evidence: ['"erc7710" is in specs/schemes/exact/scheme_exact_evm.md', 'EIP-712 domain'],
    },
  },
  {
    name: 'ERC-7710 beside an offer that default clients pay',
    seen: { ...offering({}, ERC7710), ...said('default', ['signs'], ['unsupported']) },
    expect: { status: 'pass', outcome: 'valid', evidence: ['erc7710', '(client-refuses)'] },
  },
  {
    name: 'ERC-7710 first: the client chooses it and throws',
    seen: { ...offering(ERC7710, {}), ...said('settings', ['unsupported'], ['signs']) },
    expect: { status: 'warn', outcome: 'client-refuses', evidence: ['/accepts/0'] },
  },
  {
    name: 'a sound offer that the client refuses all the same',
    seen: { ...offering({}), ...said('nobody', ['refuses', 'not today']) },
    expect: {
      status: 'warn',
      outcome: 'client-refuses',
      evidence: ['scheme_exact_evm.md', 'not today'],
    },
  },
  {
    name: 'an asset outside the default spend controls',
    seen: { ...offering(ODD_TOKEN), ...said('settings', ['limited', 'only default assets']) },
    expect: {
      status: 'warn',
      outcome: 'unusual-asset',
      evidence: ['/accepts/0/asset', 'only default'],
    },
  },
  sound('an asset like that beside a default one', {
    ...offering(ODD_TOKEN, {}),
    ...said('default', ['limited'], ['signs']),
  }),
  sound('a price over the default limit is not a finding of this check', {
    ...offering({ amount: '5000000' }),
    ...said('settings', ['limited', 'over $1']),
  }),
  {
    name: 'only a scheme of its own',
    seen: offering(BARTER),
    expect: {
      status: 'warn',
      outcome: 'unknown',
      evidence: ['"barter"', 'unknown to this catalog'],
    },
  },
  warned(
    'only a network that nobody here knows',
    offering({ network: 'valueof:x', asset: 'gold', payTo: 'me', extra: {} }),
    'unknown',
    '"valueof:x"',
  ),
  {
    name: 'an unknown scheme beside exact is named, and is not a fault',
    seen: offering({}, BARTER),
    expect: { status: 'pass', outcome: 'valid', evidence: ['/accepts/1: "barter"', '(unknown)'] },
  },
  warned(
    'only a long id of Algorand',
    offering({ ...ALGORAND, network: LONG_ID }),
    'outdated-network',
    '/accepts/0/network',
  ),
  {
    name: 'a long id of Algorand beside Base',
    seen: offering({}, { ...ALGORAND, network: LONG_ID }),
    expect: { status: 'pass', outcome: 'valid', evidence: ['(outdated-network)'] },
  },
  sound('only a passive pair: sound by the table', {
    ...offering(ALGORAND),
    ...said('unknown', ['unsupported']),
  }),
  sound(
    'a testnet is a network like others',
    offering({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA, extra: SEPOLIA_DOMAIN }),
  ),
  {
    name: "the clients' verdict on another resource",
    seen: {
      ...offering({}),
      payability: { clients: [], resources: [], silent: [] },
    },
    expect: { status: 'pass', outcome: 'valid' },
  },
  warned(
    'the URL of another https host',
    url('https://api.seller.example/weather'),
    'other-host',
    'api.seller.example',
  ),
  {
    name: 'a URL that is not a web address',
    seen: url('ftp://seller.example/weather'),
    expect: { status: 'fail', outcome: 'bad-resource-url', evidence: ['ftp:'] },
  },
];

const cases: readonly CheckCase[] = [
  ...UNSETTLED_CASES,
  ...PAIR_CASES,
  ...PAYABLE_CASES,
  {
    name: 'the version is text',
    seen: v2(challengeV2({ x402Version: '2' })),
    expect: {
      status: 'fail',
      outcome: 'wrong-version',
      evidence: ['GET /weather /x402Version: "2"'],
    },
  },
  {
    name: 'no version at all',
    seen: v2(challengeV2({ x402Version: undefined })),
    expect: { status: 'fail', outcome: 'wrong-version', evidence: ['/x402Version: missing'] },
  },
  {
    name: 'a version of the future',
    seen: v2(challengeV2({ x402Version: 3 })),
    expect: { status: 'fail', outcome: 'wrong-version', evidence: ['/x402Version: 3'] },
  },
  {
    name: 'version 1 names under version 2',
    seen: offering({ amount: undefined, maxAmountRequired: '10000' }),
    expect: {
      status: 'fail',
      outcome: 'v1-names',
      evidence: ['/accepts/0/maxAmountRequired: "10000"'],
    },
  },
  sound(
    'a version 1 name beside its version 2 name is an extra member',
    offering({ maxAmountRequired: '10000' }),
  ),
  {
    name: 'accepts is empty',
    seen: v2(challengeV2({ accepts: [] })),
    expect: { status: 'fail', outcome: 'no-accepts', evidence: ['/accepts: []'] },
  },
  {
    name: 'accepts is not a list',
    seen: v2(challengeV2({ accepts: offer() })),
    expect: { status: 'fail', outcome: 'no-accepts', evidence: ['/accepts'] },
  },
  warned(
    'no resource',
    v2(challengeV2({ resource: undefined })),
    'no-resource',
    '/resource: missing',
  ),
  warned(
    'a resource of null',
    v2(challengeV2({ resource: null })),
    'no-resource',
    '/resource: null',
  ),
  {
    name: 'a resource without an address',
    seen: v2(challengeV2({ resource: { description: 'Weather' } })),
    expect: { status: 'fail', outcome: 'bad-resource-url', evidence: ['/resource/url: missing'] },
  },
  {
    name: 'the resource is text, as in version 1',
    seen: v2(challengeV2({ resource: `${ORIGIN}/weather` })),
    expect: { status: 'fail', outcome: 'bad-resource-url' },
  },
  warned(
    'an http URL of another host',
    url('http://internal.example/weather'),
    'other-host',
    'internal.example',
  ),
  {
    name: 'a URL without scheme and slash',
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
  badField('no recipient', { payTo: undefined }, '/accepts/0/payTo: missing'),
  badField('no timeout', { maxTimeoutSeconds: undefined }, '/accepts/0/maxTimeoutSeconds: missing'),
  badField('a timeout of zero', { maxTimeoutSeconds: 0 }, '/accepts/0/maxTimeoutSeconds: 0'),
  badField('a broken timeout', { maxTimeoutSeconds: 1.5 }, '/accepts/0/maxTimeoutSeconds: 1.5'),
  badField('a timeout as text', { maxTimeoutSeconds: '300' }, '/maxTimeoutSeconds: "300"'),
  {
    name: 'several faults are listed',
    seen: offering({ amount: '$1', asset: 'USDC', payTo: 'me' }),
    expect: {
      status: 'fail',
      outcome: 'bad-field',
      evidence: ['/accepts/0/amount: "$1"', '/accepts/0/asset', '/accepts/0/payTo'],
    },
  },
  {
    name: 'more than three faults are counted',
    seen: offering({ amount: '$1', asset: 'USDC', payTo: 'me' }, { amount: '$1', asset: 'USDC' }),
    expect: { status: 'fail', outcome: 'bad-field', evidence: ['/accepts/0/payTo', '2 more'] },
  },
  warned(
    'one bad offer beside a good one, and the clients were not asked',
    offering({}, { amount: '0.05' }),
    'unsound-offer',
    '/accepts/1/amount: "0.05"',
  ),
  {
    name: 'an entry that is not an object',
    seen: v2(challengeV2({ accepts: ['exact'] })),
    expect: { status: 'fail', outcome: 'bad-field', evidence: ['/accepts/0/scheme: missing'] },
  },
  noDomain('no extra on an EVM network', { extra: undefined }, '/accepts/0/extra/name: missing'),
  noDomain('extra without version', { extra: { name: 'USD Coin' } }, 'version: missing'),
  differs('an error that is not text', v2(challengeV2({ error: 402 })), '/error: 402'),
  differs('a list of extensions', v2(challengeV2({ extensions: ['a'] })), '/extensions: ["a"]'),
  noDomain('an unknown token', { asset: ODD_TOKEN.asset, extra: {} }, 'extra/name: missing'),
  {
    name: 'the Sepolia name on Base',
    seen: offering({ extra: { name: 'USDC', version: '2' } }),
    expect: {
      status: 'fail',
      outcome: 'wrong-domain',
      evidence: ['/accepts/0/extra/name: "USDC"'],
    },
  },
  {
    name: 'the Base name on Sepolia',
    seen: offering({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA }),
    expect: { status: 'fail', outcome: 'wrong-domain', evidence: ['"USD Coin"'] },
  },
  {
    name: 'another version of the domain',
    seen: offering({ extra: { name: 'USD Coin', version: '1' } }),
    expect: {
      status: 'fail',
      outcome: 'wrong-domain',
      evidence: ['/accepts/0/extra/version: "1"'],
    },
  },
  warned('valid version 1 on Base', v1({}), 'version-1', 'GET /weather /x402Version: 1'),
  {
    name: 'version 1 with the domain of another network',
    seen: v1({ network: 'base-sepolia', asset: USDC_BASE_SEPOLIA }),
    expect: { status: 'fail', outcome: 'wrong-domain', evidence: ['"USD Coin"'] },
  },
  {
    name: 'version 1 with a version 2 amount',
    seen: v1({ maxAmountRequired: undefined, amount: '10000' }),
    expect: {
      status: 'fail',
      outcome: 'bad-field',
      evidence: ['/accepts/0/maxAmountRequired: missing'],
    },
  },
  {
    name: 'version 1 with a CAIP-2 network',
    seen: v1({ network: 'eip155:8453' }),
    expect: { status: 'fail', outcome: 'bad-field', evidence: ['/accepts/0/network'] },
  },
  warned('a relative URL', url('/weather'), 'relative-url', '/resource/url: "/weather"'),
  warned(
    'http with the own host: TLS ends at a proxy that is not trusted',
    url('http://seller.example/weather'),
    'http-url',
    'http://seller.example/weather',
  ),
  sound('http with the own host of an origin that is http itself', {
    ...url('http://seller.example/weather'),
    origin: http,
  }),
  sound('an amount of 78 digits', offering({ amount: '1'.repeat(78) })),
  sound(
    'Permit2 needs no domain of the token',
    offering({ extra: { assetTransferMethod: 'permit2' } }),
  ),
  sound(
    'an asset that is not known needs some domain, not ours',
    offering({ asset: `0x${'ab'.repeat(20)}`, extra: { name: 'Token', version: '1' } }),
  ),
  sound('Solana has no domain', offering({}, { ...SOLANA, extra: { feePayer: SOLANA.payTo } })),
  sound(
    'a bad checksum is for P7',
    offering({ payTo: '0x70997970c51812dc3A010C7d01b50e0d17dc79C8' }),
  ),
  sound(
    'extra members, and entries in any order of members',
    v2({ accepts: [{ note: 'ours', ...offer() }], extensions: {}, ...challengeV2() }),
  ),
  {
    name: 'one of two resources challenges, and does so well',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(200) })]) },
    expect: { status: 'pass', outcome: 'valid', evidence: ['1 of 2'] },
  },
  ...['mcp://tool/a', 'mcp://seller.example/tools/a'].map((url) => ({
    name: `the resource of a tool at ${url}`,
    seen: { resources: resources([toolResource({}, challengeV2({ resource: { url } }))]) },
    expect: { status: 'pass', outcome: 'valid' } as const,
  })),
  {
    name: 'no challenge was seen, and P2 did not fail',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
