/** Looks run at the same time only within limits, also over several instances. */
import { expect, test } from 'vitest';
import { HOUR_MS, hostsBetween, START_MS, startCensus } from './census-rig.ts';

const HOSTS = hostsBetween(11, 13, 6);

test('at most four looks run at a time, if the hosts share neither domain nor network', async () => {
  const rig = startCensus();
  for (const host of HOSTS) await rig.list(host);
  rig.during = runPendingTurns;
  rig.clock.nowMs = START_MS + 23 * HOUR_MS;
  for (let second = 0; second < 60; second += 1) {
    await rig.settle();
    rig.clock.nowMs += 1_000;
  }
  expect(rig.asked).toHaveLength(HOSTS.length);
  expect(rig.mostAtOnce).toBeGreaterThan(1);
  expect(rig.mostAtOnce).toBeLessThanOrEqual(4);
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

test('an instance does not look at a host while another instance does', async () => {
  const rig = startCensus();
  const [host = ''] = HOSTS;
  await rig.list(host);
  const otherInstance = rig.addInstance();
  const lookEnds = Promise.withResolvers<void>();
  rig.during = () => lookEnds.promise;
  rig.clock.nowMs = START_MS + 23 * HOUR_MS;
  await rig.census.rounds.tick();
  await expect.poll(() => rig.askedHosts()).toEqual([host]);
  await otherInstance.rounds.tick();
  await otherInstance.rounds.idle();
  expect(rig.askedHosts()).toEqual([host]);
  lookEnds.resolve();
  await rig.census.rounds.idle();
  rig.clock.nowMs += 5_000;
  await otherInstance.rounds.tick();
  await otherInstance.rounds.idle();
  expect(rig.askedHosts()).toEqual([host]);
  expect(await rig.word(host)).toBe('payable');
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
    void rig.census.rounds.tick();
    await runPendingTurns();
    rig.clock.nowMs += 1_001;
  }
  const rows = await Promise.all(hosts.map((host) => rig.store.census.get(host)));
  expect(rows.filter((row) => row?.begunDay !== null)).toHaveLength(8);
});

async function runPendingTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}
