/** Memory goes back once a service rests after work, and is left alone otherwise. */
import { expect, test } from 'vitest';
import { returnMemoryAtRest } from '../../src/service/return-memory.ts';

const MIB = 1024 * 1024;

function watched(heapMiB = 30) {
  let usedMs = 600;
  let collections = 0;
  let scans = 0;
  const look = returnMemoryAtRest({
    scans: () => scans,
    usedMs: () => usedMs,
    heapBytes: () => heapMiB * MIB,
    collect: () => {
      collections += 1;
      usedMs += 40;
    },
  });
  return {
    after(workMs: number) {
      usedMs += workMs;
      return look();
    },
    afterScan(workMs: number) {
      scans += 1;
      usedMs += workMs;
      return look();
    },
    collections: () => collections,
  };
}

test('once, when the start is over', () => {
  const service = watched();
  expect(service.after(300)).toBe(false);
  expect(service.after(5)).toBe(true);
  expect(service.after(5)).toBe(false);
  expect(service.after(0)).toBe(false);
  expect(service.collections()).toBe(1);
});

test('again after scans, but not while they go on', () => {
  const service = watched();
  service.after(0);
  expect([100, 100, 100].map((ms) => service.afterScan(ms))).toEqual([false, false, false]);
  expect(service.after(19)).toBe(true);
  // Little work, however long it takes.
  expect([19, 19, 19].map((ms) => service.after(ms))).toEqual([false, false, false]);
});

test('a minute after the last requests, whose code it makes slow for a while', () => {
  const service = watched();
  service.after(0);
  const pauses = Array.from({ length: 29 }, () => 0);
  for (let burst = 0; burst < 3; burst += 1) {
    expect(service.after(800)).toBe(false);
    expect(pauses.map((ms) => service.after(ms))).not.toContain(true);
  }
  expect(service.after(0)).toBe(true);
});

test('a minute after requests that came before the first rest', () => {
  const service = watched();
  expect(service.after(1_500)).toBe(false);
  const looks = Array.from({ length: 30 }, () => service.after(0));
  expect(looks.indexOf(true)).toBe(29);
});

test('not where the heap is so large that callers would notice', () => {
  const service = watched(97);
  expect(service.after(0)).toBe(false);
});

test('by a collection that this Node knows', () => {
  const look = returnMemoryAtRest({ scans: () => 0, usedMs: () => 1_000, heapBytes: () => 0 });
  expect(look()).toBe(true);
});
