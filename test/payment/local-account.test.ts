/** In `local` mode, a stuck, lost, costly or reverted transaction does not stop other payments. */
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  parseTransaction,
  toHex,
} from 'viem';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { base } from 'viem/chains';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createLocalFacilitator,
  type LocalOptions,
} from '../../src/payment/settle/local-facilitator.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import { needs } from '../fixtures/needs.ts';
import { CHAIN_TIMING, fundedPayer, newSeller, type Seller } from './chain-shop.ts';
import { type FailingNode, startFailingNode } from './failing-node.ts';
import { encode, newPayer, type SignedHeader } from './payer.ts';
import { PRICE, type ShopOptions, startShop } from './shop.ts';

const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });
const readNonce = (raw: string) => parseTransaction(raw as Hex).nonce;

/** A store that stays open while shops on it start and stop. */
const closing = (open: Store) => ({ open, [Symbol.asyncDispose]: () => open.close() });

describe('the account that settles', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let node: FailingNode;
  let seller: Seller;
  let settlementKey: Hex;
  beforeAll(async () => {
    chain = await startChain();
  });
  beforeEach(async () => {
    seller = newSeller(chain);
    node = await startFailingNode(chain.rpcUrl);
    settlementKey = await chain.newFundedKey();
    return async () => {
      await chain.resumeMining();
      await node[Symbol.asyncDispose]();
    };
  });
  afterAll(() => chain?.[Symbol.asyncDispose]());

  function localShop(timing: Partial<LocalOptions> = {}, options: ShopOptions = {}) {
    const facilitator = createLocalFacilitator({
      rpcUrl: node.rpcUrl,
      network: seller.terms.network,
      settlementKey,
      pollIntervalMs: 30,
      confirmationTimeoutMs: 10_000,
      balanceIntervalMs: 30,
      ...timing,
    });
    return startShop({
      ...CHAIN_TIMING,
      terms: seller.terms,
      facilitator,
      rpcUrl: node.rpcUrl,
      ...options,
    });
  }

  async function pay(): Promise<SignedHeader> {
    return (await fundedPayer(chain, seller)).sign({ value: PRICE });
  }

  /** A signature for a wallet that accepts any bytes. */
  async function odd(
    wallet: Hex,
    signature: Hex = `0x${'ab'.repeat(70)}`,
    nowMs = Date.now(),
  ): Promise<SignedHeader> {
    const payer = newPayer(undefined, seller.terms);
    const signed = await payer.sign({ value: PRICE, from: wallet, nowMs });
    const inner = signed.payload['payload'] as Record<string, unknown>;
    const payload = { ...signed.payload, payload: { ...inner, signature } };
    return { ...signed, payload, header: encode(payload) };
  }

  test('sends a lost transaction again, and then later transactions do not wait', async () => {
    await using shop = await localShop({ repeatAfterMs: 100 });
    expect((await shop.buy('x', v2(await pay()))).status).toBe(200);
    node.dropNext(1);
    const lost = shop.buy('x', v2(await pay()));
    await expect.poll(() => node.raw.length).toBe(2);
    const behind = [await pay(), await pay()].map((signed) => shop.buy('x', v2(signed)));
    for (const answer of await Promise.all([lost, ...behind])) expect(answer.status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 4n);
    const [, first, ...later] = node.raw;
    const again = later.find((raw) => readNonce(raw) === readNonce(first ?? ''));
    expect(again).toBe(first);
  });

  test('broadcasts a stuck transaction again, takes no payments meanwhile, and takes them again once it is mined', async () => {
    await using shop = await localShop(
      { repeatAfterMs: 50, confirmationTimeoutMs: 200, stuckAfterMs: 400 },
      { reconcileWithinMs: 200, retryWithinMs: 200 },
    );
    const signed = await pay();
    await chain.pauseMining();
    expect((await shop.buy('x', v2(signed))).status).toBe(503);
    await expect.poll(() => node.raw.length).toBeGreaterThan(5);
    await expect.poll(async () => (await shop.buy('x')).status).toBe(503);
    await chain.resumeMining();
    await expect.poll(async () => (await shop.buy('x', v2(signed))).status).toBe(200);
    expect(new Set(node.raw).size).toBe(1);
    const next = await pay();
    await expect.poll(async () => (await shop.buy('x', v2(next))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 2n);
  });

  test('offers ten times the base fee and the tip from the first send', async () => {
    await using shop = await localShop();
    const { baseFeePerGas } = await createPublicClient({
      transport: http(chain.rpcUrl),
    }).getBlock();
    const signed = await pay();
    await chain.pauseMining();
    const buying = shop.buy('x', v2(signed));
    await expect.poll(() => node.raw.length).toBe(1);
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(node.raw[0] as Hex);
    await chain.resumeMining();
    expect((await buying).status).toBe(200);
    // The base fee may change by an eighth from one block to the next.
    const cap = (maxFeePerGas - maxPriorityFeePerGas) / 10n;
    expect(cap).toBeGreaterThan(((baseFeePerGas ?? 0n) * 7n) / 10n);
    expect(cap).toBeLessThan(((baseFeePerGas ?? 0n) * 13n) / 10n);
  });

  test('takes payments after a restart, once the transaction of the earlier process is mined', async () => {
    await using store = closing(openSqlite(MEMORY));
    const signed = await pay();
    await chain.pauseMining();
    {
      await using shop = await localShop(
        { confirmationTimeoutMs: 100 },
        { store: store.open, reconcileWithinMs: 100 },
      );
      expect((await shop.buy('x', v2(signed))).status).toBe(503);
    }
    await using shop = await localShop(
      {},
      { store: store.open, reconcileWithinMs: 100, retryWithinMs: 100 },
    );
    expect(shop.payments.facilitator.account?.()).toMatchObject({ unconfirmed: 0, nonceGap: 1 });
    expect(shop.payments.unreadyReason()).toContain('an earlier process');
    // That transaction may settle any payment in doubt, so no payment is sent again meanwhile.
    expect((await shop.buy('x', v2(signed))).status).toBe(503);
    expect(node.raw).toHaveLength(1);
    await chain.resumeMining();
    await expect.poll(() => shop.payments.facilitator.account?.()?.nonceGap).toBe(0);
    await expect.poll(async () => (await shop.buy('x', v2(signed))).status).toBe(200);
    expect((await shop.buy('x', v2(await pay()))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 2n);
    expect(node.raw).toHaveLength(2);
  });

  test('counts a payment as paid if somebody copied its transaction and sent it first', async () => {
    await using shop = await localShop();
    const payer = await fundedPayer(chain, seller);
    const thief = createWalletClient({
      account: privateKeyToAccount(await chain.newFundedKey()),
      chain: base,
      transport: http(chain.rpcUrl),
    });
    for (const item of ['x', 'y']) {
      const signed = await payer.sign({ value: PRICE });
      const sent = node.raw.length;
      await chain.pauseMining();
      const buying = shop.buy(item, v2(signed));
      await expect.poll(() => node.raw.length).toBe(sent + 1);
      const { to, data } = parseTransaction(node.raw.at(-1) as Hex);
      await thief.sendTransaction({
        to: to ?? null,
        ...(data === undefined ? {} : { data }),
        gas: 300_000n,
        maxPriorityFeePerGas: 10n ** 11n,
        maxFeePerGas: 10n ** 12n,
      });
      await chain.resumeMining();
      expect((await buying).status).toBe(200);
    }
    expect((await shop.buy('z', v2(await payer.sign({ value: PRICE })))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 3n);
  });

  test('refuses a wallet that burns gas before any work is done', async () => {
    await using shop = await localShop();
    const wallet = await chain.newOddPayer('burns');
    const refused = await shop.buy('x', v2(await odd(wallet)));
    expect(refused.status).toBe(402);
    expect(refused.json['error']).toContain('gas_over_limit');
    expect(shop.computations).toHaveLength(0);
    expect(node.raw).toHaveLength(0);
  });

  test('spends at most 300,000 gas on a wallet that burns gas only at the settlement', async () => {
    const wallet = await chain.newOddPayer();
    await using shop = await localShop(
      { confirmationTimeoutMs: 2_000 },
      { reconcileWithinMs: 300, retryWithinMs: 300 },
    );
    await chain.pauseMining();
    const buying = shop.buy('x', v2(await odd(wallet)));
    await expect.poll(() => node.raw.length).toBe(1);
    await chain.setConduct(wallet, 'burns');
    await chain.resumeMining();
    expect((await buying).status).toBe(503);
    expect(parseTransaction(node.raw[0] as Hex).gas).toBe(300_000n);
    expect(await seller.earned()).toBe(0n);
  });

  test('makes one sale to a wallet that accepts the same bytes for every payment', async () => {
    await using shop = await localShop(
      { confirmationTimeoutMs: 300 },
      { reconcileWithinMs: 100, retryWithinMs: 100 },
    );
    const wallet = await chain.newOddPayer();
    const bytes = toHex('the same bytes');
    const [one, other] = [await odd(wallet, bytes), await odd(wallet, bytes)];
    await chain.pauseMining();
    const [first, second] = await Promise.all([shop.buy('x', v2(one)), shop.buy('y', v2(other))]);
    expect([first.status, second.status]).toEqual([503, 503]);
    await chain.resumeMining();
    for (const [item, signed] of [
      ['x', one],
      ['y', other],
    ] as const) {
      await expect.poll(async () => (await shop.buy(item, v2(signed))).status).toBe(200);
    }
    expect(await seller.earned()).toBe(PRICE * 2n);
    expect(new Set(node.raw.map(readNonce)).size).toBe(2);
  });

  test('does not send a reverted payment again, and refuses a wallet that reverts twice until tomorrow', async () => {
    const dayMs = 24 * 3_600_000;
    // An hour before midnight, so that all reverts of this test are of one day.
    const tomorrowMs = Math.ceil((Date.now() + 3_600_000) / dayMs) * dayMs;
    let nowMs = tomorrowMs - 3_600_000;
    const clock = () => nowMs;
    await using store = closing(openSqlite(MEMORY, { clock }));
    const openShop = () =>
      localShop(
        { confirmationTimeoutMs: 2_000 },
        { store: store.open, clock, reconcileWithinMs: 300, retryWithinMs: 300 },
      );
    const wallet = await chain.newOddPayer();
    const odds = (payer = wallet) => odd(payer, undefined, nowMs);
    for (const item of ['x', 'y']) {
      // Each payment runs in its own process, so the processes know of each other only through the ledger.
      await using shop = await openShop();
      await chain.setConduct(wallet, 'agrees');
      const sent = node.raw.length;
      await chain.pauseMining();
      const buying = shop.buy(item, v2(await odds()));
      await expect.poll(() => node.raw.length).toBe(sent + 1);
      await chain.setConduct(wallet, 'reverts');
      await chain.resumeMining();
      expect((await buying).status).toBe(503);
    }
    await using shop = await openShop();
    await chain.setConduct(wallet, 'agrees');
    const looked = () =>
      node.requestedMethods.filter((method) => method === 'eth_getTransactionReceipt');
    const looks = looked().length;
    await expect.poll(() => looked().length).toBeGreaterThan(looks + 4);
    expect(node.raw).toHaveLength(2);

    const third = await shop.buy('z', v2(await odds()));
    expect(third.status).toBe(402);
    expect(third.json['error']).toContain('wallet_reverted_twice_today');
    // Other wallets are served.
    expect((await shop.buy('x', v2(await odds(await chain.newOddPayer())))).status).toBe(200);
    nowMs = tomorrowMs;
    expect((await shop.buy('z', v2(await odds()))).status).toBe(200);
  });

  test('takes no payments while it cannot pay for twenty settlements, and takes them again by itself', async () => {
    await using shop = await localShop();
    expect((await shop.buy('x')).status).toBe(402);
    const address = privateKeyToAddress(settlementKey);
    await chain.setGas(address, 1_000n);
    await expect.poll(async () => (await shop.buy('x')).status).toBe(503);
    expect(shop.payments.unreadyReason()).toContain(address);
    expect((await shop.buy('x', v2(await pay()))).status).toBe(503);
    await chain.setGas(address, 10n ** 18n);
    const payer = await fundedPayer(chain, seller);
    const header = async () => v2(await payer.sign({ value: PRICE }));
    await expect.poll(async () => (await shop.buy('x', await header())).status).toBe(200);
    expect(await shop.unpaid(payer.address)).toHaveLength(0);
  });

  test('sends with the next nonce if another sender has used its nonce', async () => {
    await using shop = await localShop();
    expect((await shop.buy('x', v2(await pay()))).status).toBe(200);
    const foreign = createLocalFacilitator({
      rpcUrl: chain.rpcUrl,
      network: seller.terms.network,
      settlementKey,
      pollIntervalMs: 30,
    });
    await using other = await startShop({
      ...CHAIN_TIMING,
      terms: seller.terms,
      facilitator: foreign,
    });
    expect((await other.buy('x', v2(await pay()))).status).toBe(200);
    expect((await shop.buy('x', v2(await pay()))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 3n);
  });
});
