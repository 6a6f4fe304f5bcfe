/** What callers see while the shared database is gone. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { type Fleet, sellerOf, startFleet, stepsOf, unfinishedKeys } from './fleet.ts';
import type { HostProcess } from './host-process.ts';
import { newPurchase } from './purchase.ts';
import { buyScan } from './shared-work.ts';

// Processes start, and databases come back, as fast as the machine lets them.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const database = 'uri' in mongo ? mongo.process : undefined;
const mongoUri = 'uri' in mongo ? mongo.uri : '';
const PATIENCE = { timeout: 50_000, interval: 250 };

function lack(): string | null {
  if ('unavailable' in mongo) return mongo.unavailable;
  return database === undefined ? 'the server of MONGODB_URI is not ours to kill' : null;
}

describe('while the database is lost and instances run', needs(lack()), () => {
  const undo = new AsyncDisposableStack();
  let fleet: Fleet;
  let host: HostProcess;

  beforeAll(async () => {
    fleet = undo.use(await startFleet({ mongoUri, sellers: 2, settings: { RATE_LIMIT: 'off' } }));
    host = await fleet.start();
  });
  afterAll(async () => {
    await undo.disposeAsync();
    if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
  });

  test('no client is invited to pay, none is charged, and sales resume when it is back', async () => {
    const seller = sellerOf(fleet, 0);
    const purchase = await newPurchase('scan');
    expect((await host.get('/health')).status).toBe(200);
    expect((await host.post('/v1/scan', {})).status).toBe(402);

    await database?.kill();
    await expect.poll(async () => (await host.get('/health')).status, PATIENCE).toBe(503);
    expect((await host.get('/health')).json).toMatchObject({
      status: 'unavailable',
      error: 'store_unavailable',
      store: 'mongodb',
    });
    // One look at the database serves a second of callers.
    const invite = () => host.post('/v1/scan', { url: seller.url });
    await expect.poll(async () => (await invite()).status, PATIENCE).toBe(503);
    const [invitation, changes, paid] = await Promise.all([
      invite(),
      host.get('/v1/changes?since=2026-08-14T00:00:00Z'),
      buyScan(host, seller, purchase),
    ]);
    for (const answer of [invitation, changes, paid]) {
      const { status, headers, json } = answer;
      // Whether a payment that came along was charged before stands in the database alone.
      const charged = answer === paid ? null : false;
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
    await expect.poll(async () => (await host.get('/health')).status, PATIENCE).toBe(200);
    expect(await stepsOf(fleet, purchase, 'claimed')).toBe(0);
    const bought = await buyScan(host, seller, purchase);
    expect(bought.status).toBe(200);
    expect(await stepsOf(fleet, purchase, 'settled')).toBe(1);
  });

  test('an open sale is not charged, and the same payment buys it later', async () => {
    const seller = sellerOf(fleet, 1);
    const purchase = await newPurchase('scan');
    seller.hold();
    const interrupted = buyScan(host, seller, purchase);
    await expect.poll(() => seller.scans(), PATIENCE).toBe(1);
    await database?.kill();
    seller.release();
    const { status, json } = await interrupted;
    expect({ status, error: json['error'], charged: json['charged'] }).toEqual({
      status: 503,
      error: 'store_unavailable',
      charged: null,
    });

    await database?.restart();
    await expect.poll(async () => (await host.get('/health')).status, PATIENCE).toBe(200);
    expect(await stepsOf(fleet, purchase, 'settling')).toBe(0);
    const bought = await buyScan(host, seller, purchase);
    expect(bought.status).toBe(200);
    expect(await stepsOf(fleet, purchase, 'settled')).toBe(1);
    await expect.poll(() => unfinishedKeys(fleet), PATIENCE).toBe(0);
  });
});
