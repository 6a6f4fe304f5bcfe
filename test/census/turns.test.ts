/** Looks run at the same time only within limits, also over several instances. */
import { describe, expect, test } from 'vitest';
import { HOUR_MS, hostsBetween, START_MS, startCensus } from './census-rig.ts';

/** Looks at all hosts at once, and returns the order in which the looks begin and end. */
async function lookAtAll(
  hosts: readonly string[],
  options: { readonly domain?: string; readonly address?: string },
) {
  const rig = startCensus();
  const order: string[] = [];
  for (const host of hosts) {
    await rig.list(host, options.domain === undefined ? {} : { domain: options.domain });
    const { address } = options;
    if (address !== undefined) rig.addresses.set(host, { address, family: 4 });
  }
  rig.during = async (host) => {
    order.push(`begins ${host}`);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    order.push(`ends ${host}`);
  };
  rig.clock.nowMs = START_MS + 23 * HOUR_MS;
  for (let second = 0; second < 60; second += 1) {
    await rig.settle();
    rig.clock.nowMs += 1_000;
  }
  return { rig, order };
}

const HOSTS = hostsBetween(11, 13, 6);

test('at most four looks run at a time, if the hosts share neither domain nor network', async () => {
  const { rig } = await lookAtAll(HOSTS, {});
  expect(rig.asked).toHaveLength(HOSTS.length);
  expect(rig.mostAtOnce).toBeGreaterThan(1);
  expect(rig.mostAtOnce).toBeLessThanOrEqual(4);
});

test.each([
  ['registrable domain', { domain: 'shops.com' }],
  ['/24', { address: '198.51.100.7' }],
])('at most one look runs at a time for each %s', async (_, options) => {
  const { rig, order } = await lookAtAll(HOSTS, options);
  expect(rig.asked).toHaveLength(HOSTS.length);
  expect(rig.mostAtOnce).toBe(1);
  for (let index = 0; index < order.length; index += 2) {
    expect(order[index + 1]).toBe(order[index]?.replace('begins', 'ends'));
  }
  for (const host of HOSTS) expect(await rig.word(host)).toBe('payable');
});

test('after a pause of the census, at most four overdue looks begin in a second, and all hosts get their word', async () => {
  const rig = startCensus();
  const hosts = hostsBetween(1, 20, 40);
  for (const host of hosts) await rig.list(host);
  rig.clock.nowMs = START_MS + 21 * HOUR_MS;
  const looksPerSecond: number[] = [];
  for (let second = 0; second < 12; second += 1) {
    const earlierLooks = rig.asked.length;
    await rig.settle();
    await rig.settle();
    looksPerSecond.push(rig.asked.length - earlierLooks);
    rig.clock.nowMs += 1_001;
  }
  expect(Math.max(...looksPerSecond)).toBe(4);
  expect(rig.asked).toHaveLength(hosts.length);
  for (const host of hosts) expect(await rig.word(host)).toBe('payable');
});

describe('two instances on one store', () => {
  test('share the hosts, and look at each once', async () => {
    const rig = startCensus();
    const hosts = hostsBetween(0.1, 23.9, 60);
    for (const host of hosts) await rig.list(host);
    const otherInstance = rig.addInstance();
    rig.during = () => new Promise(setImmediate);
    const endMs = START_MS + 24 * HOUR_MS - 60_000;
    while (rig.clock.nowMs < endMs) {
      rig.clock.nowMs = Math.min(endMs, rig.clock.nowMs + 600_000);
      await Promise.all([rig.census.tick(), otherInstance.tick()]);
      await Promise.all([rig.census.idle(), otherInstance.idle()]);
    }
    const counts = Map.groupBy(rig.askedHosts(), (host) => host);
    expect(Math.max(...[...counts.values()].map((looks) => looks.length))).toBe(1);
    const words = await Promise.all(hosts.map((host) => rig.word(host)));
    expect(new Set(words)).toEqual(new Set(['payable']));
    expect(rig.troubles).toEqual([]);
  });

  test('do not look at a host while the other instance does', async () => {
    const rig = startCensus();
    const [host = ''] = HOSTS;
    await rig.list(host);
    const otherInstance = rig.addInstance();
    const lookEnds = Promise.withResolvers<void>();
    rig.during = () => lookEnds.promise;
    rig.clock.nowMs = START_MS + 23 * HOUR_MS;
    await rig.census.tick();
    await expect.poll(() => rig.askedHosts()).toEqual([host]);
    await otherInstance.tick();
    await otherInstance.idle();
    expect(rig.askedHosts()).toEqual([host]);
    lookEnds.resolve();
    await rig.census.idle();
    rig.clock.nowMs += 5_000;
    await otherInstance.tick();
    await otherInstance.idle();
    expect(rig.askedHosts()).toEqual([host]);
    expect(await rig.word(host)).toBe('payable');
  });
});

test('at most eight looks are unfinished at a time, so a crash cuts off at most eight looks', async () => {
  const rig = startCensus();
  const hosts = hostsBetween(1, 20, 30);
  for (const host of hosts) await rig.list(host);
  rig.wait = runPendingTurns;
  // Each look returns its turn between two requests, so other looks can begin.
  rig.between = async (admitNext) => {
    for (;;) {
      await runPendingTurns();
      await admitNext();
    }
  };
  rig.clock.nowMs = START_MS + 21 * HOUR_MS;
  for (let second = 0; second < 30; second += 1) {
    void rig.census.tick();
    await runPendingTurns();
    rig.clock.nowMs += 1_001;
  }
  const rows = await Promise.all(hosts.map((host) => rig.store.census.get(host)));
  expect(rows.filter((row) => row?.begunDay !== null)).toHaveLength(8);
});

async function runPendingTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}
