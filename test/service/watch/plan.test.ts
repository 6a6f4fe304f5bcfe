import { expect, test } from 'vitest';
import { findHourlyMs, toSecondOfDay, toWatchTiming } from '../../../src/service/watch/state.ts';

const TIMING = toWatchTiming();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 8, 1);
const hosts = Array.from({ length: 10_000 }, (_, n) => `shop-${n}.example.com`);

test('with 10,000 watches, no ten minutes of a day have over 1.5 times their share of looks', () => {
  const looksPerMinute = new Uint32Array(DAY_MS / MINUTE_MS);
  for (const host of hosts) {
    for (let atMs = findHourlyMs(host, START_MS - 1, TIMING); atMs < START_MS + DAY_MS; ) {
      const minute = Math.floor((atMs - START_MS) / MINUTE_MS);
      looksPerMinute[minute] = (looksPerMinute[minute] ?? 0) + 1;
      atMs = findHourlyMs(host, atMs, TIMING);
    }
  }
  expect(looksPerMinute.reduce((sum, count) => sum + count, 0)).toBe(24 * hosts.length);
  const sharePerTenMinutes = hosts.length / 6;
  for (let minute = 0; minute + 10 <= looksPerMinute.length; minute += 1) {
    const looks = looksPerMinute.slice(minute, minute + 10).reduce((sum, count) => sum + count, 0);
    expect(looks).toBeLessThanOrEqual(1.5 * sharePerTenMinutes);
  }
});

test('daily scans spread over the day, and each falls on an hourly look of its host', () => {
  const scansPerHour = new Uint32Array(24);
  for (const host of hosts) {
    const second = toSecondOfDay(host);
    scansPerHour[Math.floor(second / 3_600)] = (scansPerHour[Math.floor(second / 3_600)] ?? 0) + 1;
    const atMs = START_MS + second * 1_000;
    expect(findHourlyMs(host, atMs - 1, TIMING)).toBe(atMs);
  }
  expect(Math.max(...scansPerHour)).toBeLessThan((1.5 * hosts.length) / 24);
});
