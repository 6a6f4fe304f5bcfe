/** Two instances on one store share scans, changes, rate limits and verifications as if they were one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { startTokenOrigin, type TokenOrigin } from '../service/ownership/token-origin.ts';
import { TERMS } from '../service/payment/payer.ts';
import { sellerOf, startFleet } from './fleet.ts';
import { type InstanceProcess, untilSelling } from './instance-process.ts';
import { newPurchase, priceOf } from './purchase.ts';
import {
  buyScan,
  expectOneSaleOfOneHeader,
  expectOneScanForTenPayers,
  type Pair,
} from './shared-work.ts';

// A slow machine may take minutes to start processes and databases.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const mongoMissing = 'uri' in mongo ? null : mongo.unavailable;
const mongoUri = 'uri' in mongo ? mongo.uri : '';
afterAll(async () => {
  if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
});

/** The instances trust `X-Forwarded-For` of local callers, so that a test can act as many callers. */
const BEHIND_PROXY = { TRUST_PROXY: '127.0.0.0/8', RATE_LIMIT: 'off' };
const UNPAID_ANSWERS_PER_MINUTE = 60;

describe('two instances that settle on a chain', needs(mongoMissing ?? chainUnavailable()), () => {
  const cleanup = new AsyncDisposableStack();
  let chain: TestChain;
  let pair: Pair;

  beforeAll(async () => {
    chain = await startChain();
    cleanup.defer(() => chain[Symbol.asyncDispose]());
    const local = { PAYMENT_MODE: 'local', RPC_URL: chain.rpcUrl };
    const settings = { ...BEHIND_PROXY, ...local };
    const fleet = cleanup.use(await startFleet({ mongoUri, sellers: 2, settings }));
    const [one, other] = await Promise.all([
      fleet.start({ SETTLEMENT_KEY: await chain.newFundedKey() }),
      fleet.start({ SETTLEMENT_KEY: await chain.newFundedKey() }),
    ]);
    pair = { fleet, one: await untilSelling(one), other: await untilSelling(other) };
  });
  afterAll(() => cleanup.disposeAsync());

  const newKey = async () => (await chain.newPayer(priceOf('scan'))).privateKey;

  test('share one scan among ten payers of one origin, and charge each once', async () => {
    const balanceBefore = await chain.balanceOf(TERMS.payTo);
    const purchases = await expectOneScanForTenPayers(pair, sellerOf(pair.fleet, 0), newKey);
    expect((await chain.balanceOf(TERMS.payTo)) - balanceBefore).toBe(10n * priceOf('scan'));
    for (const { address } of purchases) expect(await chain.balanceOf(address)).toBe(0n);
  });

  test('make one sale if both get the same payment at once', async () => {
    const balanceBefore = await chain.balanceOf(TERMS.payTo);
    const { address } = await expectOneSaleOfOneHeader(pair, sellerOf(pair.fleet, 1), newKey);
    expect((await chain.balanceOf(TERMS.payTo)) - balanceBefore).toBe(priceOf('scan'));
    expect(await chain.balanceOf(address)).toBe(0n);
  });
});

describe('two instances on one store', needs(mongoMissing), () => {
  const SELLERS = 6;
  const cleanup = new AsyncDisposableStack();
  let pair: Pair;
  let ownedOrigin: TokenOrigin;

  beforeAll(async () => {
    ownedOrigin = cleanup.use(await startTokenOrigin());
    const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
    cleanup.defer(() => rm(folder, { recursive: true, force: true }));
    const certificates = join(folder, 'ca.pem');
    await writeFile(certificates, ownedOrigin.ca);
    const settings = {
      ...BEHIND_PROXY,
      RATE_LIMIT: 'on',
      NODE_EXTRA_CA_CERTS: certificates,
    };
    const alsoAllow = [ownedOrigin.host];
    const fleet = cleanup.use(
      await startFleet({ mongoUri, sellers: SELLERS, settings, alsoAllow }),
    );
    const [one, other] = await Promise.all([fleet.start(), fleet.start()]);
    pair = { fleet, one, other };
  });
  afterAll(() => cleanup.disposeAsync());

  const noKey = async () => undefined;

  test('share one scan among ten payers of one origin', async () => {
    await expectOneScanForTenPayers(pair, sellerOf(pair.fleet, 0), noKey);
  });

  test('make one sale if both get the same payment at once', async () => {
    await expectOneSaleOfOneHeader(pair, sellerOf(pair.fleet, 1), noKey);
  });

  test('serve all changes in order, from one instance while the other publishes', async () => {
    const { fleet, one, other } = pair;
    const since = new Date(fleet.store.now()).toISOString();
    const published: string[] = [];
    let isPublishing = true;
    const publishing = publishAll().finally(() => {
      isPublishing = false;
    });
    const listedChanges = await readChanges(one, since, () => isPublishing);
    await publishing;
    expect(listedChanges.map(({ host }) => host).sort()).toEqual(published.sort());
    const instants = listedChanges.map(({ changedAt }) => changedAt);
    expect(instants).toEqual([...new Set(instants)].sort());

    /** Publishes four origins at once, twice, at the instance that nobody reads from. */
    async function publishAll(): Promise<void> {
      for (let round = 0; round < 2; round += 1) {
        await Promise.all(
          [2, 3, 4, 5].map(async (n) => {
            const seller = sellerOf(fleet, n);
            const { status } = await buyScan(other, seller, await newPurchase('scan'));
            expect(status).toBe(200);
            published.push(seller.host);
          }),
        );
      }
    }
  });

  test('share one rate limit for the requests of one caller', async () => {
    const { one, other } = pair;
    const from = { 'x-forwarded-for': '203.0.113.77' };
    let answered = 0;
    let lastRemaining = Number.POSITIVE_INFINITY;
    for (let n = 0; n < 3 * UNPAID_ANSWERS_PER_MINUTE; n += 1) {
      const instance = n % 2 === 0 ? one : other;
      const { status, headers } = await instance.post('/v1/scan', {}, from);
      const remaining = Number(headers.get('ratelimit-remaining'));
      // The number of remaining requests rose, so another minute has begun.
      if (remaining > lastRemaining) answered = 0;
      lastRemaining = remaining;
      if (status === 429) break;
      expect(status).toBe(402);
      answered += 1;
      expect(remaining).toBe(UNPAID_ANSWERS_PER_MINUTE - answered);
    }
    expect(answered).toBe(UNPAID_ANSWERS_PER_MINUTE);
  });

  test('confirm a verification that the other instance began, and both accept the verification', async () => {
    const { one, other, fleet } = pair;
    const startAnswer = await one.post('/v1/verify/start', { url: ownedOrigin.url });
    expect(startAnswer.status).toBe(200);
    ownedOrigin.serve(String(startAnswer.json['token']));
    const confirmAnswer = await other.post('/v1/verify/confirm', { url: ownedOrigin.url });
    expect(confirmAnswer.json).toMatchObject({ host: ownedOrigin.host, verified: true });
    const listingAnswer = await one.post('/v1/listing', { url: ownedOrigin.url, listed: false });
    expect(listingAnswer.status).toBe(200);
    expect((await fleet.store.listing.get(ownedOrigin.host)).settings.listed).toBe(false);
  });

  test('stop independently: a stopping instance first ends its sale, and the other instance delivers the result again', async () => {
    const { fleet, one, other } = pair;
    const seller = sellerOf(fleet, 5);
    seller.hold();
    const scansBefore = seller.scans();
    const purchase = await newPurchase('scan');
    const buying = buyScan(one, seller, purchase);
    await expect.poll(() => seller.scans(), { timeout: 50_000 }).toBe(scansBefore + 1);
    const stopping = one.kill('SIGTERM');
    seller.release();
    expect((await buying).status).toBe(200);
    await stopping;
    expect(await one.exited).toBe(0);
    expect((await buyScan(other, seller, purchase)).headers.get('x-redelivered')).toBe('1');
  });
});

type ListedChange = { readonly host: string; readonly changedAt: string };

/** Buys pages of two changes until the publisher is done and no change is left. */
async function readChanges(
  instance: InstanceProcess,
  firstSince: string,
  isPublishing: () => boolean,
): Promise<readonly ListedChange[]> {
  const changes: ListedChange[] = [];
  let since = firstSince;
  for (;;) {
    const wasPublishing = isPublishing();
    const { headers, client } = await newPurchase('changes');
    const query = `since=${encodeURIComponent(since)}&limit=2`;
    const answer = await instance.get(`/v1/changes?${query}`, { ...client, ...headers });
    expect(answer.status).toBe(200);
    changes.push(...(answer.json['changes'] as ListedChange[])); // as `src/service/directory/list-changes.ts` types them
    since = String(answer.json['nextSince']);
    if (!wasPublishing && answer.json['hasMore'] === false) return changes;
  }
}
