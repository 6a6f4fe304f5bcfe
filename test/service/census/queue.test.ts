/** Nobody stands at the head of the queue whose look cannot begin. */
import { describe, expect, test } from 'vitest';
import { LookQueue } from '../../../src/service/census/queue.ts';
import type { DueOrigin } from '../../../src/service/store/census.ts';
import { hostsBetween, START_MS, startCensus } from './census-rig.ts';

const due = (host: string, more: Partial<DueOrigin> = {}): DueOrigin => ({
  ...{ host, domain: host, network: null, lookAtMs: 1_000, firstDay: 0, scannedDay: 0 },
  ...more,
});
const FACTS = {
  leased: new Set<string>(),
  isPaidScanRunning: false,
  isWeeklyScanDue: () => false,
  limit: 4,
};

describe('the queue', () => {
  test('passes over hosts whose domain or last network is asked now', () => {
    const slow = Array.from({ length: 120 }, (_, n) =>
      due(`slow-${n}.com`, { domain: `d${n % 6}.com`, network: '203.0.113.0/24' }),
    );
    const honest = Array.from({ length: 4 }, (_, n) => due(`shop-${n}.com`, { lookAtMs: 2_000 }));
    const leased = new Set(['network 203.0.113.0/24']);
    const chosen = new LookQueue().choose([...slow, ...honest], { ...FACTS, leased });
    expect(chosen).toEqual(honest.map(({ host }) => host));
  });

  test('takes one host of each domain and network at a time', () => {
    const origins = [
      due('a.farm.com', { domain: 'farm.com' }),
      due('b.farm.com', { domain: 'farm.com' }),
      due('c.com', { network: 'n1' }),
      due('d.com', { network: 'n1' }),
      due('e.com'),
    ];
    expect(new LookQueue().choose(origins, FACTS)).toEqual(['a.farm.com', 'c.com', 'e.com']);
  });

  test('passes over weekly scans while a paid scan runs', () => {
    const scans = Array.from({ length: 40 }, (_, n) => due(`scan-${n}.com`));
    const looks = [due('look.com', { lookAtMs: 2_000 })];
    const isWeeklyScanDue = ({ host }: DueOrigin) => host.startsWith('scan');
    const facts = { ...FACTS, isWeeklyScanDue, isPaidScanRunning: true };
    expect(new LookQueue().choose([...scans, ...looks], facts)).toEqual(['look.com']);
    expect(new LookQueue().choose(scans, { ...facts, isPaidScanRunning: false })).toHaveLength(4);
  });

  test('puts a rejected look behind those that were due before the rejection', () => {
    const queue = new LookQueue();
    queue.reject('early.com', 5_000);
    const origins = [due('early.com'), due('later.com', { lookAtMs: 4_000 })];
    expect(queue.choose(origins, FACTS)).toEqual(['later.com', 'early.com']);
    queue.forgetRejection('early.com');
    expect(queue.choose(origins, FACTS)).toEqual(['early.com', 'later.com']);
  });

  test.each([
    [60_000, ['slow.com', 'fast.com']],
    [60_001, ['fast.com', 'slow.com']],
  ])('puts a domain that used %d ms of looks today last, until the next day', (ms, order) => {
    const queue = new LookQueue();
    queue.countTime(['domain slow.com'], ms, 1);
    const origins = [due('slow.com'), due('fast.com', { lookAtMs: 2_000 })];
    expect(queue.choose(origins, FACTS)).toEqual(order);
    queue.countTime([], 0, 2);
    expect(queue.choose(origins, FACTS)).toEqual(['slow.com', 'fast.com']);
  });
});

test('twenty honest hosts are looked at beside 120 slow names at one address', async () => {
  const rig = startCensus();
  const slow = hostsBetween(22, 23, 120);
  const honest = hostsBetween(23, 23.5, 20);
  for (const [n, host] of slow.entries()) {
    await rig.list(host, { domain: `slow-${n % 6}.com` });
    rig.addresses.set(host, { address: `198.51.100.${1 + (n % 200)}`, family: 4 });
  }
  for (const host of honest) await rig.list(host);
  const isSlow = new Set(slow);
  // Each slow name holds its turn for 19 s.
  rig.during = async (host) => {
    if (!isSlow.has(host)) return;
    const endMs = rig.clock.nowMs + 19_000;
    while (rig.clock.nowMs < endMs) await new Promise(setImmediate);
  };
  rig.wait = async () => void (await new Promise(setImmediate));
  rig.clock.nowMs = START_MS + 23.5 * 3_600_000;
  for (let second = 0; second < 600; second += 1) {
    void rig.census.rounds.tick();
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    rig.clock.nowMs += 1_000;
  }
  const words = await Promise.all(honest.map((host) => rig.word(host)));
  expect(words).toEqual(honest.map(() => 'payable'));
});
