/** Instances join a shared store, hold leases in it, and leave it. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { OpenStoreOptions, Store } from '../../../src/service/store/store.ts';
import { SETTINGS } from './mongo-races.ts';
import { dropDatabase, freshDatabase, startServerForFile } from './mongo-subject.ts';
import { OtherProcess } from './other-process.ts';

const SIGNER = '0xAbCdef0000000000000000000000000000000001';

const server = await startServerForFile();

describe('instances on one database', server.needed, () => {
  let url = '';
  const cleanUps: (() => Promise<void>)[] = [];

  beforeEach(() => {
    url = freshDatabase(server.uri);
    cleanUps.push(() => dropDatabase(url));
  });
  afterEach(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  async function open(options: OpenStoreOptions = {}): Promise<Store> {
    const store = await openStore(url, options);
    cleanUps.push(() => store.close());
    return store;
  }

  async function startOtherProcess(): Promise<OtherProcess> {
    const otherProcess = await OtherProcess.start(url);
    cleanUps.push(() => otherProcess.kill());
    return otherProcess;
  }

  test('run together if their settings agree', async () => {
    const [a, b] = [await open(), await open()];
    await a.instances.join({ settings: SETTINGS });
    await b.instances.join({ settings: SETTINGS });
    expect(await a.instances.isAlive(b.info.owner)).toBe(true);
    expect(await b.instances.isAlive(a.info.owner)).toBe(true);
    await b.instances.leave();
    expect(await a.instances.isAlive(b.info.owner)).toBe(false);
  });

  test.each(['revision', 'network', 'asset', 'payTo', 'baseUrl', 'catalog'] as const)(
    'refuse an instance with a different %s, and name that setting',
    async (name) => {
      const [a, b] = [await open(), await open()];
      await a.instances.join({ settings: SETTINGS });
      const settings = { ...SETTINGS, [name]: 'another' };
      await expect(b.instances.join({ settings, waitMs: 0 })).rejects.toMatchObject({
        code: 'incompatible',
        message: expect.stringMatching(new RegExp(`${name} ".*", this one "another"`)),
      });
      await a.instances.leave();
      await b.instances.join({ settings, waitMs: 0 });
    },
  );

  test('refuse an instance with other settings at once, whatever its `waitMs` is', async () => {
    const [a, b] = [await open(), await open()];
    await a.instances.join({ settings: SETTINGS });
    const settings = { ...SETTINGS, baseUrl: 'http://another' };
    const joining = b.instances.join({ settings, waitMs: 3_600_000 });
    await expect(joining).rejects.toMatchObject({ code: 'incompatible' });
  });

  test('that start at the same time with different settings are all refused, except one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const stores = [await open(), await open(), await open()];
      const joins = stores.map((store, index) =>
        store.instances.join({ settings: { ...SETTINGS, payTo: `0x${index}` }, waitMs: 2_000 }),
      );
      const outcomes = await Promise.allSettled(joins);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const store of stores) await store.instances.leave();
    }
  });

  test('refuse a second instance with the same signer address, in any letter case, until the first instance leaves', async () => {
    const [a, b] = [await open(), await open()];
    await a.instances.join({ settings: SETTINGS, signer: SIGNER });
    const sameSigner = { settings: SETTINGS, signer: SIGNER.toLowerCase(), waitMs: 0 };
    await expect(b.instances.join(sameSigner)).rejects.toMatchObject({
      code: 'incompatible',
      message: expect.stringContaining('SETTLEMENT_KEY'),
    });
    await b.instances.join({ settings: SETTINGS, signer: '0xother', waitMs: 0 });
    await b.instances.leave();
    await a.instances.leave();
    await b.instances.join(sameSigner);
  });

  test('take the lease of a killed instance only after it was silent for some time', async () => {
    const otherProcess = await startOtherProcess();
    expect(await otherProcess.tell({ kind: 'hold', lease: 'scan:a.com' })).toBe(1);
    await otherProcess.kill();

    let aheadMs = 0;
    const store = await open({ clock: () => Date.now() + aheadMs });
    const takeLease = () => store.leases.takeSole(['scan:a.com'], 60_000);
    const firstTry = await takeLease();
    expect(firstTry.taken).toBe(false);
    if (firstTry.taken) return;
    expect(await store.instances.isAlive(firstTry.holder.owner)).toBe(true);

    aheadMs = 20_000;
    expect(await store.instances.isAlive(firstTry.holder.owner)).toBe(false);
    expect(await store.leases.isHeld(firstTry.holder)).toBe(false);
    expect((await takeLease()).taken).toBe(true);
    const settings = { ...SETTINGS, baseUrl: 'http://another' };
    await store.instances.join({ settings, waitMs: 0 });
  });

  test('count as dead earlier, and send heartbeats more often, if a test scales time', async () => {
    let aheadMs = 0;
    const clock = () => Date.now() + aheadMs;
    const [a, b] = [await open({ clock, timeScale: 0.1 }), await open({ clock, timeScale: 0.1 })];
    await a.instances.join({ settings: SETTINGS });
    const { owner } = a.info;
    aheadMs = 2_000;
    expect(await b.instances.isAlive(owner)).toBe(false);
    await expect.poll(() => b.instances.isAlive(owner)).toBe(true);
  });

  test('that were silent for too long learn which other settings took the store', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const sleeper = await open();
    const eviction = new Promise<Error>((onEvicted) => {
      const joined = sleeper.instances.join({ settings: SETTINGS, onEvicted });
      cleanUps.push(() => joined);
    });
    const otherInstance = await open();
    const isSleeperAlive = () => otherInstance.instances.isAlive(sleeper.info.owner);
    await vi.waitFor(async () => expect(await isSleeperAlive()).toBe(true), { timeout: 30_000 });
    const newcomer = await open({ clock: () => Date.now() + 60_000 });
    await newcomer.instances.join({ settings: { ...SETTINGS, payTo: '0xnext' }, waitMs: 0 });
    vi.advanceTimersByTime(25_000);
    expect(await eviction).toMatchObject({
      code: 'incompatible',
      message: expect.stringContaining('payTo "0xnext"'),
    });
  });

  test("use the database's clock, not their own", async () => {
    const realMs = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => realMs + 3_600_000);
    const store = await open();
    expect(Math.abs(store.now() - realMs)).toBeLessThan(600_000);
    await store.instances.join({ settings: SETTINGS });
    vi.restoreAllMocks();
    const otherInstance = await open();
    expect(await otherInstance.instances.isAlive(store.info.owner)).toBe(true);
  });
});
