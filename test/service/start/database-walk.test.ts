import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startMongoServer } from '../../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../../fixtures/needs.ts';
import { countSteps, type Fleet, sellerOf, startFleet } from '../../hosts/fleet.ts';
import type { InstanceProcess } from '../../hosts/instance-process.ts';
import { newPurchase } from '../../hosts/purchase.ts';
import { buyScan, expectRedelivery } from '../../hosts/shared-work.ts';

// The first start builds the database server, and a slow machine may take minutes to start processes.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const missingServer = 'uri' in mongo ? null : mongo.unavailable;
afterAll(async () => {
  if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
});

describe('a service on the database server', needs(missingServer), () => {
  const cleanUps = new AsyncDisposableStack();
  let fleet: Fleet;
  let instance: InstanceProcess;

  beforeAll(async () => {
    const mongoUri = 'uri' in mongo ? mongo.uri : '';
    fleet = cleanUps.use(await startFleet({ mongoUri, sellers: 1 }));
    instance = await fleet.start();
  });
  afterAll(() => cleanUps.disposeAsync());

  test('sells and publishes a scan, and after a restart delivers it again without a charge', async () => {
    const seller = sellerOf(fleet, 0);
    const url = `http://${seller.host}`;
    const sinceMs = fleet.store.now();
    const purchase = await newPurchase('scan');
    const bought = await buyScan(instance, seller, purchase);
    expect(bought.status).toBe(200);
    const { grade, score } = bought.json;

    const status = await instance.get(`/v1/status?url=${encodeURIComponent(url)}`);
    expect(status.json).toMatchObject({ known: true, fresh: true, grade, score });
    const directory = await instance.get(`/v1/directory?q=${encodeURIComponent(seller.host)}`);
    expect(directory.json).toMatchObject({
      count: 1,
      projects: [{ host: seller.host, grade }],
    });
    const { changes } = await fleet.store.changes.list({ sinceMs, limit: 10 });
    expect(changes).toMatchObject([{ changeType: 'new', host: seller.host, grade }]);

    await instance.kill();
    instance = await fleet.start();
    expectRedelivery(await buyScan(instance, seller, purchase), bought);
    expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
  });
});
