/** The official clients run on a real thread, without a network. */
import { afterAll, describe, expect, test } from 'vitest';
import type { ListedChallenges } from '../../../src/scanner/clients/list-challenges.ts';
import { openClients } from '../../../src/scanner/clients/open-clients.ts';
import type { JsonObject } from '../../../src/scanner/parse/json/json.ts';
import { EngineFault, PoolSaturated } from '../../../src/scanner/workers/job.ts';
import {
  challengeV1,
  challengeV2,
  PAY_TO,
} from '../../fixtures/observations/build-observations.ts';
import { AUTH_CAPTURE, inBody, inHeader, offering, SOLANA, SOLANA_KEY } from './challenges.ts';

const STELLAR = {
  network: 'stellar:pubnet',
  asset: `C${'A'.repeat(55)}`,
  payTo: `G${'A'.repeat(55)}`,
  extra: { areFeesSponsored: true },
};
const OTHER_TOKEN = '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42';
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const DOMAIN = { name: 'USD Coin', version: '2' };
const WALLET = '0x77777777Dcc4d5A8B6E418Fd04D8997ef11000eE';
const GATEWAY = { name: 'GatewayWalletBatched', version: '1', verifyingContract: WALLET };
const RENAMED = { scheme: 'exact2', amount: '$0.05' };

const noSocketsUrl = new URL('./no-sockets.mjs', import.meta.url).href;
const clients = openClients({
  execArgv: ['--import', noSocketsUrl],
  cpuMs: 20_000,
  wallMs: 60_000,
});
afterAll(() => clients.close());

async function tryFirst(challenges: ListedChallenges) {
  const { resources } = await clients.tryChallenges(challenges);
  const [resource] = resources;
  if (resource === undefined) throw new Error('no resource was judged');
  return resource;
}

async function tryOffers(...changes: readonly (JsonObject | null)[]) {
  const { payableBy, offers } = await tryFirst(offering(...changes));
  return [payableBy, ...offers.map(({ verdict }) => verdict)];
}

const SVM_UPTO = { feePayer: SOLANA_KEY, receiverAuthorizer: SOLANA_KEY, withdrawDelay: 900 };

test('takes another contract before a plain offer for what keeps default clients from it', async () => {
  expect(await tryOffers({ extra: GATEWAY }, {})).toEqual(['settings', 'unsupported', 'signs']);
  expect(await tryOffers({}, { extra: GATEWAY })).toEqual(['default', 'signs', 'unsupported']);
});

describe('a single offer:', () => {
  test.each<readonly [string, JsonObject, payableBy: string, verdict: string]>([
    ['a cent on Base', {}, 'default', 'signs'],
    ['permit2', { extra: { assetTransferMethod: 'permit2' } }, 'default', 'signs'],
    ['Solana', SOLANA, 'default', 'signs'],
    ['five dollars', { amount: '5000000' }, 'settings', 'limited'],
    ['an asset outside the defaults', { asset: OTHER_TOKEN }, 'settings', 'limited'],
    ['upto', { scheme: 'upto', extra: { facilitatorAddress: PAY_TO } }, 'settings', 'signs'],
    ['upto on Solana', { ...SOLANA, scheme: 'upto', extra: SVM_UPTO }, 'settings', 'signs'],
    ['auth-capture', { scheme: 'auth-capture', extra: AUTH_CAPTURE }, 'settings', 'signs'],
    [
      'batch-settlement',
      { scheme: 'batch-settlement', extra: { ...DOMAIN, receiverAuthorizer: PAY_TO } },
      'settings',
      'signs',
    ],
    ['a scheme that nobody knows', { scheme: 'barter' }, 'unknown', 'unsupported'],
    ['a network without a client', STELLAR, 'unknown', 'unsupported'],
    ['the asset of Base on Stellar', { network: 'stellar:pubnet' }, 'nobody', 'unsupported'],
    ['a network that nobody knows', { network: 'valueof:x' }, 'unknown', 'unsupported'],
    ['ERC-7710', { extra: { assetTransferMethod: 'erc7710' } }, 'unknown', 'unsupported'],
    [
      'ERC-7710, with a domain that the client signs under',
      { extra: { assetTransferMethod: 'erc7710', ...DOMAIN } },
      'unknown',
      'unsupported',
    ],
    ['a scheme of its own', { scheme: 'nvm:erc4337', network: 'stripe' }, 'unknown', 'unsupported'],
    ['a broken offer whose scheme is renamed', RENAMED, 'unknown', 'unsupported'],
    ['a signature for another contract', { extra: GATEWAY }, 'unknown', 'unsupported'],
    [
      'a contract beside the own name',
      { extra: { ...DOMAIN, version: '1', verifyingContract: WALLET } },
      'nobody',
      'refuses',
    ],
    [
      'the zero address as contract',
      { extra: { ...GATEWAY, verifyingContract: ZERO_ADDRESS } },
      'nobody',
      'refuses',
    ],
    ['a network that does not exist', { network: 'eip155:base-mainnet' }, 'nobody', 'refuses'],
    ['a name of version 1', { network: 'base' }, 'nobody', 'refuses'],
  ])('%s', async (_, change, payableBy, verdict) => {
    expect(await tryOffers(change)).toEqual([payableBy, verdict]);
  });

  test.each<readonly [string, JsonObject, words: RegExp]>([
    ['no domain', { extra: {} }, /EIP-712 domain parameters/],
    ['upto without facilitatorAddress', { scheme: 'upto' }, /requires facilitatorAddress/],
    [
      'batch-settlement without receiverAuthorizer',
      { scheme: 'batch-settlement', extra: { ...DOMAIN, receiverAuthorizer: ZERO_ADDRESS } },
      /non-zero extra.receiverAuthorizer/,
    ],
    ['auth-capture, no extra', { scheme: 'auth-capture' }, /'captureAuthorizer' is required/],
    ['an unknown payment flow', { extra: { ...DOMAIN, paymentFlow: 'lottery' } }, /paymentFlow/],
    ['Solana without feePayer', { ...SOLANA, extra: {} }, /feePayer is required/],
    ['solana:mainnet', { ...SOLANA, network: 'solana:mainnet' }, /Unsupported SVM network/],
    ['an asset by its symbol', { asset: 'USDC' }, /Address "USDC" is invalid/],
  ])('%s is refused in the words of the client', async (_, change, words) => {
    const { payableBy, offers } = await tryFirst(offering(change));
    expect(payableBy).toBe('nobody');
    expect(offers[0]).toMatchObject({ verdict: 'refuses', words: expect.stringMatching(words) });
    expect([...(offers[0]?.words ?? '')].length).toBeLessThanOrEqual(200);
  });
});

describe('a whole challenge:', () => {
  test('only the first offer that the filters keep must be payable by default clients', async () => {
    expect(await tryOffers({ extra: {} }, {})).toEqual(['settings', 'refuses', 'signs']);
    expect(await tryOffers({}, { extra: {} })).toEqual(['default', 'signs', 'refuses']);
  });

  test('offers that the filters remove do no harm', async () => {
    expect(await tryOffers({ asset: OTHER_TOKEN }, {})).toEqual(['default', 'limited', 'signs']);
    expect(await tryOffers({ scheme: 'barter' }, {})).toEqual(['default', 'unsupported', 'signs']);
  });

  test('default clients cannot pay a challenge with an entry that is not an offer, in any position', async () => {
    expect(await tryOffers({}, null)).toEqual(['settings', 'signs', 'refuses']);
    expect(await tryOffers(null)).toEqual(['nobody', 'refuses']);
  });

  test('version 1 is read from the body, version 2 only from the header', async () => {
    expect(await tryFirst(inBody(challengeV1()))).toMatchObject({ payableBy: 'default' });
    expect(await tryFirst(inBody(challengeV2()))).toMatchObject({
      payableBy: 'nobody',
      words: 'Invalid payment required response',
      offers: [{ verdict: 'signs' }],
    });
  });

  test.each<readonly [string, JsonObject, member: string]>([
    ['no version', { x402Version: undefined }, '/x402Version'],
    ['a version of null', { x402Version: null }, '/x402Version'],
    ['a version that is text', { x402Version: '2' }, '/x402Version'],
    ['a version of the future', { x402Version: 3 }, '/x402Version'],
    ['a resource that is its address', { resource: 'https://shop.example/a' }, '/resource'],
    ['a resource that is a list', { resource: ['https://shop.example/a'] }, '/resource'],
    ['a resource that is a number', { resource: 7 }, '/resource'],
    ['a resource without an address', { resource: { description: 'Weather' } }, '/resource/url'],
    ['an address that is not text', { resource: { url: 7 } }, '/resource/url'],
  ])('with %s counts as refused, whatever a client signs', async (_, change, member) => {
    const { payableBy, words } = await tryFirst(inHeader(challengeV2(change)));
    expect(payableBy).toBe('nobody');
    if (member !== '/x402Version') expect(words).toContain(`${member} is `);
  });

  test.each<readonly [string, JsonObject]>([
    ['no resource', { resource: undefined }],
    ['a resource of null', { resource: null }],
    ['an empty address', { resource: { url: '' } }],
    ['a description that is not text', { resource: { url: 'https://a.example', description: 5 } }],
    ['tags that are not a list', { resource: { url: 'https://a.example', tags: 'weather' } }],
  ])('with %s is still payable', async (_, change) => {
    expect(await tryFirst(inHeader(challengeV2(change)))).toMatchObject({ payableBy: 'default' });
  });

  test('a hostile challenge breaks no later trial', async () => {
    for (const value of [{ toString: 1 }, { __proto__: null }, '1'.repeat(400), '\ud800', []]) {
      for (const member of ['amount', 'network', 'asset', 'payTo', 'extra', 'scheme']) {
        const { payableBy, offers } = await tryFirst(offering({ [member]: value }));
        expect(offers).toHaveLength(1);
        expect(['nobody', 'unknown', 'settings', 'default']).toContain(payableBy);
      }
    }
    const accepts = Array.from({ length: 200 }, () => ({}));
    const many = await tryFirst(inHeader(challengeV2({ accepts })));
    expect(many.offers).toHaveLength(64);
  });
});

test('the same challenge gets the same verdict', async () => {
  const secondClients = openClients();
  try {
    const verdict = await secondClients.tryChallenges(offering(SOLANA, { amount: '5000000' }));
    expect(await clients.tryChallenges(offering(SOLANA, { amount: '5000000' }))).toEqual(verdict);
    expect(verdict.clients.map(({ name }) => name)).toEqual([
      '@x402/core',
      '@x402/evm',
      '@x402/svm',
    ]);
  } finally {
    await secondClients.close();
  }
});

test('a challenge that takes too long is tried twice and then refused; later challenges are tried as usual', async () => {
  const hasty = openClients({ cpuMs: 0, scanMs: 60_000 });
  const patient = openClients({ idleMs: 1 });
  try {
    const { resources } = await hasty.tryChallenges(offering({}, SOLANA));
    const words = 'could not be read within limits';
    expect(resources[0]).toMatchObject({
      payableBy: 'nobody',
      offers: [
        { verdict: 'refuses', words, scheme: 'exact' },
        { verdict: 'refuses', words },
      ],
    });
    for (const amount of ['1', '2', '3']) {
      const { resources } = await patient.tryChallenges(offering({ amount }));
      expect(resources[0]).toMatchObject({ payableBy: 'default' });
    }
  } finally {
    await Promise.all([hasty.close(), patient.close()]);
  }
});

test('no challenge is tried once the scan has spent its time for clients', async () => {
  const stingy = openClients({ scanMs: 0 });
  try {
    const { resources } = await stingy.tryChallenges(offering({ amount: '8' }));
    expect(resources).toMatchObject([
      { payableBy: 'unknown', offers: [{ verdict: 'unsupported', amount: '8' }] },
    ]);
  } finally {
    await stingy.close();
  }
});

test('a caller that aborts is released at once, while its challenge is tried or waits', async () => {
  const busy = openClients({ cpuMs: 20_000, wallMs: 60_000 });
  const caller = new AbortController();
  try {
    const runningTry = busy.tryChallenges(offering({ amount: '9' }), caller.signal);
    const waitingTry = busy.tryChallenges(offering({ amount: '10' }), caller.signal);
    const otherTry = busy.tryChallenges(offering({ amount: '11' }));
    const rejection = expect(Promise.all([runningTry, waitingTry])).rejects.toThrow(
      'the caller left',
    );
    caller.abort(new Error('the caller left'));
    await rejection;
    expect((await otherTry).resources).toMatchObject([{ payableBy: 'default' }]);
  } finally {
    await busy.close();
  }
});

test('a challenge is refused if no more challenges may wait', async () => {
  const narrow = openClients({ maxWaiting: 1, cpuMs: 20_000, wallMs: 60_000 });
  try {
    const tries = ['12', '13', '14'].map((amount) => narrow.tryChallenges(offering({ amount })));
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await expect(tries[2]).rejects.toBeInstanceOf(PoolSaturated);
  } finally {
    await narrow.close();
  }
});

test('a client package that cannot load counts as our fault', async () => {
  const broken = openClients({ execArgv: ['--import', 'data:text/javascript,throw new Error()'] });
  try {
    await expect(broken.tryChallenges(offering({}))).rejects.toThrow(EngineFault);
  } finally {
    await broken.close();
  }
});
