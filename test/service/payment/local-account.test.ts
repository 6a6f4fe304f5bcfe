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
import type { PaymentTiming } from '../../../src/service/payment/timing.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { needs } from '../../fixtures/needs.ts';
import { fundedPayer, localShop, newSeller, type Seller } from './chain-shop.ts';
import { type FailingNode, startFailingNode } from './failing-node.ts';
import { encode, newPayer, PRICE, type SignedHeader, toHeaders } from './payer.ts';
import type { ShopOptions } from './shop.ts';

const readNonce = (raw: string) => parseTransaction(raw as Hex).nonce;

/** A store that stays open while shops on it start and stop. */
const withDispose = (open: Store) => ({ open, [Symbol.asyncDispose]: () => open.close() });

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

  function startLocalShop(
    changes: Partial<PaymentTiming> = {},
    options: Omit<ShopOptions, 'rpcUrl'> = {},
  ) {
    const timing = { confirmationTimeoutMs: 10_000, balanceIntervalMs: 30, ...changes };
    return localShop(seller, { timing, rpcUrl: node.rpcUrl, settlementKey, ...options });
  }

  async function pay(): Promise<SignedHeader> {
    return (await fundedPayer(chain, seller)).sign();
  }

  /** Signs a payment from a contract wallet that accepts any bytes as a signature. */
  async function payFromWallet(
    wallet: Hex,
    signature: Hex = `0x${'ab'.repeat(70)}`,
    nowMs = Date.now(),
  ): Promise<SignedHeader> {
    const payer = newPayer(undefined, seller.terms);
    const signed = await payer.sign({ from: wallet, nowMs });
    const inner = signed.payload['payload'] as Record<string, unknown>;
    const payload = { ...signed.payload, payload: { ...inner, signature } };
    return { ...signed, payload, header: encode(payload) };
  }

  test('sends a lost transaction again, and then later transactions do not wait', async () => {
    await using shop = await startLocalShop({ repeatAfterMs: 100 });
    expect((await shop.buy('x', toHeaders(await pay()))).status).toBe(200);
    node.dropNext(1);
    const lostCall = shop.buy('x', toHeaders(await pay()));
    await expect.poll(() => node.raw.length).toBe(2);
    const laterCalls = [await pay(), await pay()].map((signed) => shop.buy('x', toHeaders(signed)));
    for (const answer of await Promise.all([lostCall, ...laterCalls]))
      expect(answer.status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 4n);
    const [, lostTransaction, ...laterTransactions] = node.raw;
    const resent = laterTransactions.find(
      (raw) => readNonce(raw) === readNonce(lostTransaction ?? ''),
    );
    expect(resent).toBe(lostTransaction);
  });

  test('broadcasts a stuck transaction again, takes no payments meanwhile, and takes them again once it is mined', async () => {
    await using shop = await startLocalShop({
      repeatAfterMs: 50,
      confirmationTimeoutMs: 200,
      stuckAfterMs: 400,
      reconcileWithinMs: 200,
      retryWithinMs: 200,
    });
    const signed = await pay();
    await chain.pauseMining();
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
    await expect.poll(() => node.raw.length).toBeGreaterThan(5);
    await expect.poll(async () => (await shop.buy('x')).status).toBe(503);
    await chain.resumeMining();
    await expect.poll(async () => (await shop.buy('x', toHeaders(signed))).status).toBe(200);
    expect(new Set(node.raw).size).toBe(1);
    const nextPayment = await pay();
    await expect.poll(async () => (await shop.buy('x', toHeaders(nextPayment))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 2n);
  });

  test('offers ten times the base fee, plus the tip, when it first sends a transaction', async () => {
    await using shop = await startLocalShop();
    const { baseFeePerGas } = await createPublicClient({
      transport: http(chain.rpcUrl),
    }).getBlock();
    const signed = await pay();
    await chain.pauseMining();
    const purchase = shop.buy('x', toHeaders(signed));
    await expect.poll(() => node.raw.length).toBe(1);
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(node.raw[0] as Hex);
    await chain.resumeMining();
    expect((await purchase).status).toBe(200);
    // The base fee may change by an eighth from one block to the next.
    const cap = (maxFeePerGas - maxPriorityFeePerGas) / 10n;
    expect(cap).toBeGreaterThan(((baseFeePerGas ?? 0n) * 7n) / 10n);
    expect(cap).toBeLessThan(((baseFeePerGas ?? 0n) * 13n) / 10n);
  });

  test('takes payments after a restart, once the transaction of the earlier process is mined', async () => {
    await using store = withDispose(openSqlite(MEMORY));
    const signed = await pay();
    await chain.pauseMining();
    {
      await using shop = await startLocalShop(
        { confirmationTimeoutMs: 100, reconcileWithinMs: 100 },
        { store: store.open },
      );
      expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
    }
    await using shop = await startLocalShop(
      { reconcileWithinMs: 100, retryWithinMs: 100 },
      { store: store.open },
    );
    expect(shop.payments.facilitator.account?.()).toMatchObject({
      unconfirmedCount: 0,
      nonceGap: 1,
    });
    expect(shop.payments.unreadyReason()).toContain('an earlier process');
    // That transaction may settle any payment in doubt, so no payment is sent again meanwhile.
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
    expect(node.raw).toHaveLength(1);
    await chain.resumeMining();
    await expect.poll(() => shop.payments.facilitator.account?.()?.nonceGap).toBe(0);
    await expect.poll(async () => (await shop.buy('x', toHeaders(signed))).status).toBe(200);
    expect((await shop.buy('x', toHeaders(await pay()))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 2n);
    expect(node.raw).toHaveLength(2);
  });

  test('counts a payment as paid if somebody copied its transaction and sent it first', async () => {
    await using shop = await startLocalShop();
    const payer = await fundedPayer(chain, seller);
    const copier = createWalletClient({
      account: privateKeyToAccount(await chain.newFundedKey()),
      chain: base,
      transport: http(chain.rpcUrl),
    });
    for (const item of ['x', 'y']) {
      const signed = await payer.sign();
      const sentBefore = node.raw.length;
      await chain.pauseMining();
      const purchase = shop.buy(item, toHeaders(signed));
      await expect.poll(() => node.raw.length).toBe(sentBefore + 1);
      const { to, data } = parseTransaction(node.raw.at(-1) as Hex);
      await copier.sendTransaction({
        to: to ?? null,
        ...(data === undefined ? {} : { data }),
        gas: 300_000n,
        maxPriorityFeePerGas: 10n ** 11n,
        maxFeePerGas: 10n ** 12n,
      });
      await chain.resumeMining();
      expect((await purchase).status).toBe(200);
    }
    expect((await shop.buy('z', toHeaders(await payer.sign()))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 3n);
  });

  test('refuses a wallet that burns gas before any work is done', async () => {
    await using shop = await startLocalShop();
    const wallet = await chain.newOddPayer('burns');
    const refusal = await shop.buy('x', toHeaders(await payFromWallet(wallet)));
    expect(refusal.status).toBe(402);
    expect(refusal.json['error']).toContain('gas_over_limit');
    expect(shop.computations).toHaveLength(0);
    expect(node.raw).toHaveLength(0);
  });

  test('spends at most 300,000 gas on a wallet that burns gas only at the settlement', async () => {
    const wallet = await chain.newOddPayer();
    await using shop = await startLocalShop({
      confirmationTimeoutMs: 2_000,
      reconcileWithinMs: 300,
      retryWithinMs: 300,
    });
    await chain.pauseMining();
    const purchase = shop.buy('x', toHeaders(await payFromWallet(wallet)));
    await expect.poll(() => node.raw.length).toBe(1);
    await chain.setConduct(wallet, 'burns');
    await chain.resumeMining();
    expect((await purchase).status).toBe(503);
    expect(parseTransaction(node.raw[0] as Hex).gas).toBe(300_000n);
    expect(await seller.earned()).toBe(0n);
  });

  test('settles each payment once, although the wallet signs all of them with the same bytes', async () => {
    await using shop = await startLocalShop({
      confirmationTimeoutMs: 300,
      reconcileWithinMs: 100,
      retryWithinMs: 100,
    });
    const wallet = await chain.newOddPayer();
    const bytes = toHex('the same bytes');
    const [payment, otherPayment] = [
      await payFromWallet(wallet, bytes),
      await payFromWallet(wallet, bytes),
    ];
    await chain.pauseMining();
    const [answer, otherAnswer] = await Promise.all([
      shop.buy('x', toHeaders(payment)),
      shop.buy('y', toHeaders(otherPayment)),
    ]);
    expect([answer.status, otherAnswer.status]).toEqual([503, 503]);
    await chain.resumeMining();
    for (const [item, signed] of [
      ['x', payment],
      ['y', otherPayment],
    ] as const) {
      await expect.poll(async () => (await shop.buy(item, toHeaders(signed))).status).toBe(200);
    }
    expect(await seller.earned()).toBe(PRICE * 2n);
    expect(new Set(node.raw.map(readNonce)).size).toBe(2);
  });

  test('does not send a reverted payment again, and refuses a wallet that reverts twice until tomorrow', async () => {
    const dayMs = 24 * 3_600_000;
    // The test begins an hour before midnight UTC, so that all its reverts are on one day.
    const tomorrowMs = Math.ceil((Date.now() + 3_600_000) / dayMs) * dayMs;
    let nowMs = tomorrowMs - 3_600_000;
    const clock = () => nowMs;
    await using store = withDispose(openSqlite(MEMORY, { clock }));
    const openShop = () =>
      startLocalShop(
        { confirmationTimeoutMs: 2_000, reconcileWithinMs: 300, retryWithinMs: 300 },
        { store: store.open, clock },
      );
    const wallet = await chain.newOddPayer();
    const payNow = (payer = wallet) => payFromWallet(payer, undefined, nowMs);
    for (const item of ['x', 'y']) {
      // Each payment runs in its own process, so the processes know of each other only through the ledger.
      await using shop = await openShop();
      await chain.setConduct(wallet, 'agrees');
      const sentBefore = node.raw.length;
      await chain.pauseMining();
      const purchase = shop.buy(item, toHeaders(await payNow()));
      await expect.poll(() => node.raw.length).toBe(sentBefore + 1);
      await chain.setConduct(wallet, 'reverts');
      await chain.resumeMining();
      expect((await purchase).status).toBe(503);
    }
    await using shop = await openShop();
    await chain.setConduct(wallet, 'agrees');
    const listReceiptRequests = () =>
      node.requestedMethods.filter((method) => method === 'eth_getTransactionReceipt');
    const requestsBefore = listReceiptRequests().length;
    await expect.poll(() => listReceiptRequests().length).toBeGreaterThan(requestsBefore + 4);
    expect(node.raw).toHaveLength(2);

    const thirdAnswer = await shop.buy('z', toHeaders(await payNow()));
    expect(thirdAnswer.status).toBe(402);
    expect(thirdAnswer.json['error']).toContain('wallet_reverted_twice_today');
    // The refusal applies only to this wallet.
    expect((await shop.buy('x', toHeaders(await payNow(await chain.newOddPayer())))).status).toBe(
      200,
    );
    nowMs = tomorrowMs;
    expect((await shop.buy('z', toHeaders(await payNow()))).status).toBe(200);
  });

  test('takes no payments while it cannot pay for twenty settlements, and takes them again by itself', async () => {
    await using shop = await startLocalShop();
    expect((await shop.buy('x')).status).toBe(402);
    const address = privateKeyToAddress(settlementKey);
    await chain.setGas(address, 1_000n);
    await expect.poll(async () => (await shop.buy('x')).status).toBe(503);
    expect(shop.payments.unreadyReason()).toContain(address);
    expect((await shop.buy('x', toHeaders(await pay()))).status).toBe(503);
    await chain.setGas(address, 10n ** 18n);
    const payer = await fundedPayer(chain, seller);
    const createHeaders = async () => toHeaders(await payer.sign());
    await expect.poll(async () => (await shop.buy('x', await createHeaders())).status).toBe(200);
    expect(await shop.unpaid(payer.address)).toHaveLength(0);
  });

  test('sends with the next nonce if another sender has used its nonce', async () => {
    await using shop = await startLocalShop();
    expect((await shop.buy('x', toHeaders(await pay()))).status).toBe(200);
    await using otherShop = await localShop(seller, { rpcUrl: chain.rpcUrl, settlementKey });
    expect((await otherShop.buy('x', toHeaders(await pay()))).status).toBe(200);
    expect((await shop.buy('x', toHeaders(await pay()))).status).toBe(200);
    expect(await seller.earned()).toBe(PRICE * 3n);
  });
});
