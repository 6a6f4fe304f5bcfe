/** While the shared database is down, callers get 503, and no payment is charged. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { countSteps, type Fleet, sellerOf, startFleet, unfinishedKeys } from './fleet.ts';
import type { InstanceProcess } from './instance-process.ts';
import { newPurchase } from './purchase.ts';
import { buyScan } from './shared-work.ts';

// A slow machine may take minutes to start processes and databases.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const database = 'uri' in mongo ? mongo.process : undefined;
const mongoUri = 'uri' in mongo ? mongo.uri : '';
const POLL_OPTIONS = { timeout: 50_000, interval: 250 };

function findMissingTool(): string | null {
  if ('unavailable' in mongo) return mongo.unavailable;
  return database === undefined ? 'the server of MONGODB_URI is not ours to kill' : null;
}

describe('while the database is down and an instance runs', needs(findMissingTool()), () => {
  const cleanup = new AsyncDisposableStack();
  let fleet: Fleet;
  let instance: InstanceProcess;

  beforeAll(async () => {
    fleet = cleanup.use(
      await startFleet({ mongoUri, sellers: 2, settings: { RATE_LIMIT: 'off' } }),
    );
    instance = await fleet.start();
  });
  afterAll(async () => {
    await cleanup.disposeAsync();
    if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
  });

  test('no caller gets a 402 or is charged, and the instance sells again when the database is back', async () => {
    const seller = sellerOf(fleet, 0);
    const purchase = await newPurchase('scan');
    expect((await instance.get('/health')).status).toBe(200);
    expect((await instance.post('/v1/scan', {})).status).toBe(402);

    await database?.kill();
    await expect.poll(async () => (await instance.get('/health')).status, POLL_OPTIONS).toBe(503);
    expect((await instance.get('/health')).json).toMatchObject({
      status: 'unavailable',
      error: 'store_unavailable',
      store: 'mongodb',
    });
    // The service checks the database once a second, so it may still answer 402 at first.
    const requestUnpaid = () => instance.post('/v1/scan', { url: seller.url });
    await expect.poll(async () => (await requestUnpaid()).status, POLL_OPTIONS).toBe(503);
    const [unpaidAnswer, changesAnswer, paidAnswer] = await Promise.all([
      requestUnpaid(),
      instance.get('/v1/changes?since=2026-08-14T00:00:00Z'),
      buyScan(instance, seller, purchase),
    ]);
    for (const answer of [unpaidAnswer, changesAnswer, paidAnswer]) {
      const { status, headers, json } = answer;
      // Only the database knows whether this payment was charged before.
      const charged = answer === paidAnswer ? null : false;
      expect({ status, ...json }).toMatchObject({
        status: 503,
        error: 'store_unavailable',
        charged,
      });
      expect(headers.has('payment-required')).toBe(false);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(seller.scans()).toBe(0);

    await database?.restart();
    await expect.poll(async () => (await instance.get('/health')).status, POLL_OPTIONS).toBe(200);
    expect(await countSteps(fleet, purchase, 'claimed')).toBe(0);
    const laterAnswer = await buyScan(instance, seller, purchase);
    expect(laterAnswer.status).toBe(200);
    expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
  });

  test('a sale in progress is not charged, and the same payment buys the scan later', async () => {
    const seller = sellerOf(fleet, 1);
    const purchase = await newPurchase('scan');
    seller.hold();
    const interrupted = buyScan(instance, seller, purchase);
    await expect.poll(() => seller.scans(), POLL_OPTIONS).toBe(1);
    await database?.kill();
    seller.release();
    const { status, json } = await interrupted;
    expect({ status, error: json['error'], charged: json['charged'] }).toEqual({
      status: 503,
      error: 'store_unavailable',
      charged: null,
    });

    await database?.restart();
    await expect.poll(async () => (await instance.get('/health')).status, POLL_OPTIONS).toBe(200);
    expect(await countSteps(fleet, purchase, 'settling')).toBe(0);
    const laterAnswer = await buyScan(instance, seller, purchase);
    expect(laterAnswer.status).toBe(200);
    expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
    await expect.poll(() => unfinishedKeys(fleet), POLL_OPTIONS).toBe(0);
  });
});
