/** A look without an answer means that the origin is down, or that our own network fails. */
import { describe, expect, test } from 'vitest';
import { OutageWindow } from '../../../src/service/census/outage.ts';
import {
  DAY_MS,
  GONE,
  HOUR_MS,
  hostsBetween,
  lookTimeMs,
  NOON_HOST,
  PAYABLE,
  SILENT,
  START_MS,
  startCensus,
} from './census-rig.ts';

const MINUTE_MS = 60_000;

/** Adds looks at h0, h1, … A string is the network of a silent look; null is an answered look. */
function addLooks(networks: readonly (string | null)[], domainOf = (n: number) => `h${n}.com`) {
  const window = new OutageWindow();
  const down = networks.flatMap((network, n) => {
    const host = `h${n}`;
    const isSilent = network !== null;
    return window.add({ host, domain: domainOf(n), network: network ?? `p${n}`, isSilent });
  });
  return { window, down };
}

const silentLooks = (count: number, networks = count) =>
  Array.from({ length: count }, (_, n) => `network-${n % networks}`);
const answeredLooks = (count: number) => Array.from({ length: count }, () => null);

describe('among the last 20 looks', () => {
  test.each([
    ['15 silent looks', silentLooks(15), true],
    ['14 silent looks', silentLooks(14), false],
    ['15 silent looks after 5 answers', [...answeredLooks(5), ...silentLooks(15)], true],
    ['15 silent looks before 6 answers', [...silentLooks(15), ...answeredLooks(6)], false],
    ['15 silent looks in 10 networks', silentLooks(15, 10), true],
    ['15 silent looks in 9 networks', silentLooks(15, 9), false],
    ['20 silent looks in 9 networks', silentLooks(20, 9), false],
  ])('%s may show an outage of our own: %s', (_, networks, isOutage) => {
    expect(addLooks(networks).window.mayBeOutage()).toBe(isOutage);
  });

  test('the silent hosts of a registrable domain count once', () => {
    expect(addLooks(silentLooks(20), (n) => `d${n % 14}.com`).window.mayBeOutage()).toBe(false);
    expect(addLooks(silentLooks(20), (n) => `d${n % 15}.com`).window.mayBeOutage()).toBe(true);
  });

  test('a silent look that drops out of the 20 shows that its host is down', () => {
    expect(addLooks(['a', null, 'b', ...answeredLooks(18)]).down).toEqual(['h0']);
    expect(addLooks(['a', null, 'b', ...answeredLooks(20)]).down).toEqual(['h0', 'h2']);
  });

  test('a decided silence leaves the window', () => {
    const { window } = addLooks(silentLooks(15));
    window.remove('h3');
    expect(window.mayBeOutage()).toBe(false);
    expect(window.takeSilent()).toHaveLength(14);
    expect(window.takeSilent()).toEqual([]);
  });
});

describe('a silent origin', () => {
  test.each([
    ['has no word before three hours have passed', 3 * HOUR_MS - 1_000, null],
    ['is down after three hours', 3 * HOUR_MS, 'down'],
  ])('%s', async (_, laterMs, word) => {
    const rig = startCensus();
    await rig.list(NOON_HOST);
    rig.answer = () => ({ signs: [SILENT] });
    await rig.passTo(NOON_HOST);
    const lookMs = rig.clock.nowMs;
    rig.clock.nowMs = lookMs + laterMs;
    await rig.settle();
    expect(await rig.word(NOON_HOST)).toBe(word);
    expect(rig.asked).toHaveLength(1);
  });

  test('with a late look gets its word for this day after midnight, and another look on the next day', async () => {
    const [host = ''] = hostsBetween(23, 23.9, 1);
    const rig = startCensus();
    await rig.list(host);
    const day = rig.today();
    rig.answer = () => ({ signs: [SILENT] });
    await rig.passTo(host);
    await rig.passUntil(START_MS + DAY_MS + 2 * MINUTE_MS);
    expect(await rig.word(host, day)).toBe('down');
    await rig.passTo(host, day + 1);
    expect(rig.asked).toHaveLength(2);
  });

  test('is down once 20 looks have followed', async () => {
    const rig = startCensus();
    const hosts = hostsBetween(10, 11, 21);
    for (const host of hosts) await rig.list(host);
    const [earliestHost = ''] = hosts.toSorted((a, b) => lookTimeMs(a, 0) - lookTimeMs(b, 0));
    rig.answer = (host) => (host === earliestHost ? { signs: [SILENT] } : {});
    await rig.passUntil(START_MS + 11 * HOUR_MS);
    expect(rig.asked).toHaveLength(21);
    expect(await rig.word(earliestHost)).toBe('down');
  });

  test('is down as soon as no look follows', async () => {
    const rig = startCensus();
    await rig.list(NOON_HOST);
    rig.answer = () => ({ signs: [SILENT] });
    await rig.census.lookNow(NOON_HOST);
    expect(await rig.word(NOON_HOST)).toBeNull();
    await rig.census.decideSilentHosts();
    expect(await rig.word(NOON_HOST)).toBe('down');
  });

  test('that answers one of two requests is not silent', async () => {
    const rig = startCensus();
    await rig.list(NOON_HOST);
    rig.answer = () => ({ signs: [SILENT, PAYABLE] });
    await rig.passTo(NOON_HOST);
    expect(await rig.word(NOON_HOST)).toBe('payable');
  });
});

test('an hour in which our own network is cut off makes no host down, and looks pause for ten minutes at a time', async () => {
  const rig = startCensus();
  const day = rig.today();
  const hostsBefore = hostsBetween(9, 10, 20);
  const hostsDuring = hostsBetween(10, 11, 40);
  const hostsAfter = hostsBetween(11, 12, 20);
  for (const host of [...hostsBefore, ...hostsDuring, ...hostsAfter]) await rig.list(host);
  const fromMs = START_MS + 10 * HOUR_MS;
  const isCutOff = () => rig.clock.nowMs >= fromMs && rig.clock.nowMs < fromMs + HOUR_MS;
  rig.answer = () => (isCutOff() ? { signs: [SILENT] } : {});
  rig.isNetworkUp = async () => !isCutOff();
  await rig.passUntil(START_MS + 16 * HOUR_MS);

  const words = new Map<string, string | null>();
  for (const host of [...hostsBefore, ...hostsDuring, ...hostsAfter])
    words.set(host, await rig.word(host, day));
  expect([...words.values()]).not.toContain('down');
  for (const host of [...hostsBefore, ...hostsAfter]) expect(words.get(host)).toBe('payable');
  const notChecked = hostsDuring.filter((host) => words.get(host) === 'not_checked');
  const looksDuringOutage = rig.asked.filter(
    ({ atMs }) => atMs >= fromMs && atMs < fromMs + HOUR_MS,
  );
  expect(notChecked.toSorted()).toEqual(looksDuringOutage.map(({ host }) => host).toSorted());
  // Fifteen silent looks reveal the outage. After each pause, the next looks reveal it again.
  expect(notChecked.length).toBeGreaterThanOrEqual(15);
  expect(notChecked.length).toBeLessThan(hostsDuring.length);
  const times = looksDuringOutage.map(({ atMs }) => atMs);
  const [revealedMs = 0] = times.slice(14);
  expect(
    times.filter((atMs) => atMs > revealedMs + 1_000 && atMs < revealedMs + 10 * MINUTE_MS - 1_000),
  ).toEqual([]);
});

describe('fifteen silent names shortly before midnight', () => {
  const HONEST = hostsBetween(23.88, 23.95, 6);

  /** Looks at the silent names, then at the honest hosts. Our own network works again once `isUp` says so. */
  async function startBeforeMidnight(isUp: (nowMs: number) => boolean) {
    const rig = startCensus();
    const silent = new Set(hostsBetween(23.8, 23.87, 15));
    for (const host of [...silent, ...HONEST]) await rig.list(host);
    rig.answer = (host) => (silent.has(host) ? { signs: [SILENT] } : {});
    rig.isNetworkUp = async () => isUp(rig.clock.nowMs);
    return rig;
  }

  const countLooks = ({ asked }: ReturnType<typeof startCensus>, name: string) =>
    asked.filter(({ host }) => host === name).length;

  test('let no look rest while something that is known to answer answers', async () => {
    const rig = await startBeforeMidnight(() => true);
    const day = rig.today();
    await rig.passUntil(START_MS + DAY_MS - 1);
    for (const host of HONEST) expect(await rig.word(host, day)).toBe('payable');
  });

  test('cost no honest host its word if looks rest: they are made up for after midnight, once', async () => {
    const rig = await startBeforeMidnight((nowMs) => nowMs >= START_MS + DAY_MS);
    const day = rig.today();
    await rig.passUntil(START_MS + DAY_MS - 1);
    for (const host of HONEST) expect(await rig.word(host, day)).toBeNull();
    await rig.passUntil(START_MS + DAY_MS + 30 * MINUTE_MS);
    for (const host of HONEST) {
      expect(await rig.word(host, day)).toBe('payable');
      expect(await rig.word(host, day + 1)).toBeNull();
      expect(countLooks(rig, host)).toBe(1);
    }
    // The next day has a look of its own.
    rig.answer = () => ({ signs: [GONE] });
    await rig.passUntil(START_MS + 2 * DAY_MS - 1);
    for (const host of HONEST) {
      expect(await rig.word(host, day)).toBe('payable');
      expect(await rig.word(host, day + 1)).toBe('not_payable');
      expect(countLooks(rig, host)).toBe(2);
    }
  });

  test('leave the day not_checked if looks still rest when its words are counted', async () => {
    const rig = await startBeforeMidnight(() => false);
    const day = rig.today();
    await rig.passUntil(START_MS + DAY_MS - 1);
    rig.isNetworkUp = async () => true;
    // This instance stood still meanwhile.
    rig.clock.nowMs = START_MS + DAY_MS + HOUR_MS;
    await rig.passUntil(START_MS + DAY_MS + 2 * HOUR_MS);
    for (const host of HONEST) {
      expect(await rig.word(host, day)).toBe('not_checked');
      expect(countLooks(rig, host)).toBe(0);
    }
  });
});
