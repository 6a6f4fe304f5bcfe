/** A host gets its word of the day from a look or a scan, or gets none. */
import { describe, expect, test } from 'vitest';
import {
  DAY_MS,
  GONE,
  NOON_HOST as HOST,
  HOUR_MS,
  hostsBetween,
  lookTimeMs,
  START_MS,
  startCensus,
} from './census-rig.ts';

test('each host gets one word a day, from one look at its fixed second of the day', async () => {
  const rig = startCensus();
  const hosts = hostsBetween(1, 23, 12);
  for (const host of hosts) await rig.list(host);
  rig.answer = (host) => (host === hosts[0] ? { signs: [GONE] } : {});
  const firstDay = rig.today();
  await rig.passDays(3);
  for (const host of hosts) {
    const [firstLook] = rig.asked.filter((look) => look.host === host);
    expect(Math.abs((firstLook?.atMs ?? 0) - lookTimeMs(host, firstDay))).toBeLessThan(10_000);
    expect(rig.askedHosts().filter((name) => name === host)).toHaveLength(3);
    for (let day = firstDay; day < firstDay + 3; day += 1) {
      expect(await rig.word(host, day)).toBe(host === hosts[0] ? 'not_payable' : 'payable');
    }
    const row = await rig.store.census.get(host);
    expect(row?.letters.slice(-3)).toBe(host === hosts[0] ? 'nnn' : 'ppp');
  }
  expect(rig.troubles).toEqual([]);
});

test('a look asks for the listed resources, and for robots.txt only until its rules are known', async () => {
  const rig = startCensus();
  rig.post = 'listed';
  await rig.list(HOST, { resources: [{ method: 'POST', path: '/ask' }] });
  await rig.passDays(2);
  const questions = rig.asked.map(({ question }) => question);
  expect(questions).toMatchObject([
    { resources: [{ method: 'POST', path: '/ask' }], robotsPaths: ['/ask'] },
    { resources: [{ method: 'POST', path: '/ask' }], robotsPaths: [], allowed: { '/ask': true } },
  ]);
});

test('robots.txt that gave no answer is read again with the next look', async () => {
  const rig = startCensus();
  await rig.list(HOST);
  rig.answer = () => ({ allowed: null });
  await rig.passDays(2);
  expect(rig.asked.map(({ question }) => question.robotsPaths)).toEqual([
    ['/weather'],
    ['/weather'],
  ]);
});

test('a day that passed without a look is not_checked', async () => {
  const rig = startCensus();
  await rig.list(HOST);
  const day = rig.today();
  rig.clock.nowMs = START_MS + DAY_MS + HOUR_MS;
  await rig.settle();
  expect(rig.asked).toEqual([]);
  expect(await rig.word(HOST, day)).toBe('not_checked');
  await rig.passTo(HOST, day + 1);
  expect(await rig.word(HOST, day + 1)).toBe('payable');
});

test('a look that begins in the last second of a day gives this day its word, and the next day needs a look of its own', async () => {
  const rig = startCensus();
  await rig.list(HOST);
  const day = rig.today();
  rig.during = async () => {
    rig.clock.nowMs = Math.max(rig.clock.nowMs, START_MS + DAY_MS + 2_000);
  };
  rig.clock.nowMs = START_MS + DAY_MS - 1_000;
  await rig.settle();
  expect(rig.today()).toBe(day + 1);
  expect(await rig.word(HOST, day)).toBe('payable');
  expect(await rig.word(HOST, day + 1)).toBeNull();
  rig.during = async () => undefined;
  rig.answer = () => ({ signs: [GONE] });
  await rig.passTo(HOST, day + 1);
  expect(await rig.word(HOST, day + 1)).toBe('not_payable');
  expect(rig.asked).toHaveLength(2);
});

describe('Retry-After', () => {
  test.each([
    ['0 s', 0, 1],
    ['36 hours', 36 * HOUR_MS, 2],
    ['100 days, shortened to 30', 100 * DAY_MS, 30],
  ])('is obeyed: %s', async (_, restMs, daysUntilLook) => {
    const rig = startCensus();
    await rig.list(HOST);
    const firstDay = rig.today();
    const rateLimited = { status: 429, reason: null, payableBy: null } as const;
    rig.answer = () => (rig.asked.length === 1 ? { signs: [rateLimited], restMs } : {});
    for (let day = firstDay; day <= firstDay + daysUntilLook; day += 1) {
      rig.clock.nowMs = Math.max(rig.clock.nowMs, lookTimeMs(HOST, day) + (day - firstDay) * 1_000);
      await rig.settle();
    }
    expect(rig.asked).toHaveLength(2);
    expect(await rig.word(HOST)).toBe('payable');
    // Words are kept for 30 days.
    if (daysUntilLook < 30) expect(await rig.word(HOST, firstDay)).toBe('not_checked');
    if (daysUntilLook > 1)
      expect(await rig.word(HOST, firstDay + daysUntilLook - 1)).toBe('not_checked');
  });

  test('that robots.txt sends ends a scan before it begins', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.robots = () => ({ allowed: null, restMs: HOUR_MS });
    await rig.passTo(HOST);
    expect(rig.scanner.scannedHosts).toEqual([]);
    expect(await rig.word(HOST)).toBe('not_checked');
  });
});

test('a host that no index lists for 30 days gets no request, and is deleted 30 days later', async () => {
  const rig = startCensus();
  const day = rig.today();
  await rig.list(HOST, { lastDay: day - 30 });
  await rig.passTo(HOST);
  expect(rig.asked).toHaveLength(1);
  await rig.passTo(HOST, day + 1);
  expect(rig.asked).toHaveLength(1);
  await rig.passTo(HOST, day + 29);
  expect(await rig.store.census.get(HOST)).not.toBeNull();
  await rig.passTo(HOST, day + 30);
  expect(await rig.store.census.get(HOST)).toBeNull();
});

describe('a scan of the same day', () => {
  test('that somebody paid for gives the word, and no request is sent', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    await rig.scan(HOST, true);
    await rig.passTo(HOST);
    expect(rig.asked).toEqual([]);
    expect(await rig.word(HOST)).toBe('payable');
  });

  test('that is published gives the word at once', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    await rig.scan(HOST, true);
    rig.census.onPublished(HOST);
    await rig.census.rounds.idle();
    expect(await rig.word(HOST)).toBe('payable');
    await rig.passTo(HOST);
    expect(rig.asked).toEqual([]);
  });

  test('that was made yesterday gives no word', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    await rig.scan(HOST, true);
    rig.clock.nowMs += DAY_MS;
    await rig.settle();
    await rig.passTo(HOST);
    expect(rig.askedHosts()).toEqual([HOST]);
  });

  test('that a watch made privately gives no word', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    rig.answer = () => ({ signs: [GONE] });
    await rig.scan(HOST, false);
    await rig.passTo(HOST);
    expect(rig.askedHosts()).toEqual([HOST]);
    expect(await rig.word(HOST)).toBe('not_payable');
  });
});

test('a redirect in a circle counts as an answer, so the host gets its word at once', async () => {
  const rig = startCensus();
  await rig.list(HOST);
  rig.answer = () => ({ signs: [{ status: null, reason: 'redirect-loop', payableBy: null }] });
  await rig.passTo(HOST);
  expect(await rig.word(HOST)).toBe('not_payable');
});

test('a failure of our own gives the host the word not_checked, not down', async () => {
  const rig = startCensus();
  await rig.list(HOST);
  rig.answer = () => {
    throw new Error('no memory');
  };
  await rig.passTo(HOST);
  expect(await rig.word(HOST)).toBe('not_checked');
  expect(rig.troubles).toEqual(['a look of the census failed: Error: no memory']);
});
