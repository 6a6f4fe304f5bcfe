/** Looks without an answer are told apart: the origin is down, or our own network fails. */
import { describe, expect, test } from 'vitest';
import { OutageWindow } from '../../src/census/outage.ts';
import { lookTimeMs } from '../../src/census/plan.ts';
import {
  DAY_MS,
  HOUR_MS,
  hostsBetween,
  NOON_HOST,
  PAYABLE,
  SILENT,
  START_MS,
  startCensus,
} from './census-rig.ts';

const NO_DECISION = { down: [], notChecked: [] };
const MINUTE_MS = 60_000;

/** Adds looks at h0, h1, … A network name means a silent look in this network; null means an answered look. */
function decideLooks(places: readonly (string | null)[]) {
  const window = new OutageWindow();
  const decided = places.map((network, n) =>
    window.add({ host: `h${n}`, network: network ?? `p${n}`, isSilent: network !== null }),
  );
  return { window, last: decided.at(-1), decided };
}

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `h${from + n}`);
const silent = (count: number, places = count) =>
  Array.from({ length: count }, (_, n) => `network-${n % places}`);
const answered = (count: number) => Array.from({ length: count }, () => null);

describe('the last 20 looks', () => {
  test.each([
    ['15 silent looks', silent(15), names(0, 15)],
    ['14 silent looks', silent(14), []],
    ['15 silent looks after 5 answers', [...answered(5), ...silent(15)], names(5, 20)],
    [
      '15 silent looks around 5 answers',
      [...silent(15).slice(0, 8), ...answered(5), ...silent(15).slice(8)],
      [...names(0, 8), ...names(13, 20)],
    ],
    ['14 silent looks before an answer', [...silent(14), null], []],
    ['15 silent looks at 10 places', silent(15, 10), names(0, 15)],
    ['15 silent looks at 9 places', silent(15, 9), []],
    ['20 silent looks at 9 places', silent(20, 9), []],
  ])('%s', (_, places, notChecked) => {
    expect(decideLooks(places).last).toEqual({ down: [], notChecked });
  });

  test('with 6 answers among 21 looks, the first silent one drops out of the 20 and is down', () => {
    const places = [...silent(15).slice(0, 8), ...answered(6), ...silent(15).slice(8)];
    expect(decideLooks(places).last).toEqual({ down: ['h0'], notChecked: [] });
  });

  test('a silent look that drops out of the 20 is down, and an answered one is not', () => {
    const { decided } = decideLooks(['a', null, 'b', ...answered(20)]);
    expect(decided.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => NO_DECISION));
    expect(decided.slice(20)).toEqual([
      { down: ['h0'], notChecked: [] },
      NO_DECISION,
      { down: ['h2'], notChecked: [] },
    ]);
  });

  test('the silent looks that are left are decided once', () => {
    const { window } = decideLooks(['a', null, 'b']);
    expect(window.drain()).toEqual(['h0', 'h2']);
    expect(window.drain()).toEqual([]);
  });
});

describe('a silent origin', () => {
  test.each([
    ['before three hours have passed', 3 * HOUR_MS - 1_000, null],
    ['after three hours', 3 * HOUR_MS, 'down'],
  ])('%s', async (_, laterMs, word) => {
    const rig = startCensus();
    await rig.list(NOON_HOST);
    rig.answer = () => ({ signs: [SILENT] });
    await rig.passTo(NOON_HOST);
    const lookedMs = rig.clock.nowMs;
    rig.clock.nowMs = lookedMs + laterMs;
    await rig.settle();
    expect(await rig.word(NOON_HOST)).toBe(word);
    expect(rig.asked).toHaveLength(1);
  });

  test('has its word before its day is summed up, and its look on the next day', async () => {
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
    const [first = ''] = hosts.toSorted((a, b) => lookTimeMs(a, 0) - lookTimeMs(b, 0));
    rig.answer = (host) => (host === first ? { signs: [SILENT] } : {});
    await rig.passUntil(START_MS + 11 * HOUR_MS);
    expect(rig.asked).toHaveLength(21);
    expect(await rig.word(first)).toBe('down');
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

test('an hour in which we are cut off is nobody’s down: looks rest for ten minutes at a time', async () => {
  const rig = startCensus();
  const day = rig.today();
  const before = hostsBetween(9, 10, 20);
  const during = hostsBetween(10, 11, 40);
  const after = hostsBetween(11, 12, 20);
  for (const host of [...before, ...during, ...after]) await rig.list(host);
  const fromMs = START_MS + 10 * HOUR_MS;
  const isCutOff = () => rig.clock.nowMs >= fromMs && rig.clock.nowMs < fromMs + HOUR_MS;
  rig.answer = () => (isCutOff() ? { signs: [SILENT] } : {});
  await rig.passUntil(START_MS + 16 * HOUR_MS);

  const words = new Map<string, string | null>();
  for (const host of [...before, ...during, ...after]) words.set(host, await rig.word(host, day));
  expect([...words.values()]).not.toContain('down');
  for (const host of [...before, ...after]) expect(words.get(host)).toBe('payable');
  const unlucky = during.filter((host) => words.get(host) === 'not_checked');
  const silentHosts = rig.asked.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + HOUR_MS);
  expect(unlucky.toSorted()).toEqual(silentHosts.map(({ host }) => host).toSorted());
  // Fifteen looks show it; each rest is followed by one that shows it again, and by those that began beside it.
  expect(unlucky.length).toBeGreaterThanOrEqual(15);
  expect(unlucky.length).toBeLessThan(during.length);
  const times = silentHosts.map(({ atMs }) => atMs);
  const [shown = 0] = times.slice(14);
  expect(
    times.filter((atMs) => atMs > shown + 1_000 && atMs < shown + 10 * MINUTE_MS - 1_000),
  ).toEqual([]);
});
