/** All payers of one minute get the same stored export. The next payer gets a new snapshot. */
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ExportSnapshots } from '../../../src/service/directory/export.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';

const HOST = 'shop.example.com';

/** Takes snapshots of an app's store. `takenCount` counts the snapshots; `during` runs inside each snapshot. */
function createSnapshots(
  { store }: TestApp,
  during: (takeNumber: number) => Promise<void> = async () => {},
) {
  let takenCount = 0;
  const exports: Store['exports'] = {
    async takeSnapshot(limit) {
      const snapshot = await store.exports.takeSnapshot(limit);
      takenCount += 1;
      await during(takenCount);
      return snapshot;
    },
  };
  const { answers, directory, now } = store;
  const snapshots = new ExportSnapshots({
    store: { answers, directory, exports, now },
    siteUrl: 'https://scanner.example',
    headers: { 'content-type': 'application/json' },
  });
  return { snapshots, takenCount: () => takenCount };
}

async function readHosts({ store }: TestApp, answerId: string): Promise<readonly string[]> {
  const answer = await store.answers.get(answerId);
  if (answer === null) throw new Error('the answer is not stored');
  const { projects } = JSON.parse((await buffer(answer.body())).toString());
  return projects.map(({ host }: { host: string }) => host);
}

test('one snapshot serves all payers of a minute, even payers who come while it is being taken', async () => {
  await using app = await startApp();
  await app.publish(HOST);
  const { snapshots, takenCount } = createSnapshots(app);
  const ids = await Promise.all(Array.from({ length: 5 }, () => snapshots.findOrWrite()));
  app.advance(59_999);
  ids.push(await snapshots.findOrWrite());
  expect(new Set(ids).size).toBe(1);
  expect(takenCount()).toBe(1);
  app.advance(1);
  expect(await snapshots.findOrWrite()).not.toBe(ids[0]);
  expect(takenCount()).toBe(2);
});

test('an origin published after a snapshot is in the next snapshot', async () => {
  await using app = await startApp();
  const { snapshots } = createSnapshots(app);
  expect(await readHosts(app, await snapshots.findOrWrite())).toEqual([]);
  await app.publish(HOST);
  expect(await readHosts(app, await snapshots.findOrWrite())).toEqual([HOST]);
});

test("a snapshot honours an owner's change made while it is being taken", async () => {
  await using app = await startApp();
  await app.publish(HOST);
  const { snapshots, takenCount } = createSnapshots(app, async (takeNumber) => {
    if (takeNumber === 1) await app.store.listing.set(HOST, { listed: false });
  });
  expect(await readHosts(app, await snapshots.findOrWrite())).toEqual([]);
  expect(takenCount()).toBe(2);
});

test('a snapshot fails as unavailable if owners change settings during every attempt; a later snapshot works', async () => {
  await using app = await startApp();
  let isChanging = true;
  const { snapshots } = createSnapshots(app, async () => {
    if (isChanging) await app.store.listing.set(HOST, { listed: false });
  });
  await expect(snapshots.findOrWrite()).rejects.toMatchObject({ code: 'unavailable' });
  isChanging = false;
  expect(await readHosts(app, await snapshots.findOrWrite())).toEqual([]);
});

test('after a failed snapshot, the next payer causes a new snapshot', async () => {
  await using app = await startApp();
  const { snapshots } = createSnapshots(app, async (takeNumber) => {
    if (takeNumber === 1) throw new Error('the disk is full');
  });
  await expect(snapshots.findOrWrite()).rejects.toThrow('the disk is full');
  expect(await readHosts(app, await snapshots.findOrWrite())).toEqual([]);
});
