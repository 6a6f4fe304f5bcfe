/** Every check and reader takes linear time: a document of twice the length takes twice the time. */
import { beforeAll, describe, expect, test } from 'vitest';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import type { CheckDefinition } from '../../src/engine/define-check.ts';
import type { Observations } from '../../src/model/observations.ts';
import { createKit } from '../../src/parse/kit/kit.ts';
import { makePlan } from '../../src/probe/plan/plan.ts';
import { describeChallenges } from '../../src/scan/describe-challenges.ts';
import { describeOrigin } from '../../src/scan/describe-origin.ts';
import { LONG_DOCUMENTS } from '../fixtures/long-documents.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';

const SELLER = perfectSeller();
/** Shorter times prove nothing, because timer ticks and garbage collection take as long. */
const MIN_MS = 15;
/** Linear work takes twice the time, quadratic work takes four times. */
const MAX_RATIO = 3;
const MAX_ATTEMPTS = 12;

type Task = readonly [name: string, run: (seen: Observations) => unknown];
const tasks: Task[] = [
  ['plan', (seen) => makePlan(seen, createKit())],
  ['origin', (seen) => describeOrigin(seen, createKit())],
  ['challenges', (seen) => describeChallenges(seen, createKit())],
];

beforeAll(async () => {
  for (const { impl, url } of await discoverChecks()) {
    const module: { readonly default: CheckDefinition } = await import(url);
    tasks.push([impl, (seen) => module.default.evaluate(seen, createKit())]);
  }
  for (const [, run] of tasks) run(SELLER);
});

function tookMs(run: Task[1], seen: Observations): number {
  const before = process.threadCpuUsage();
  run(seen);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Null if the work is linear or too short to measure. A busy machine is measured again. Sums are compared,
 * because a thread clock that ticks every 4 ms makes the smallest of several short times too small.
 */
function growth([name, run]: Task, short: Observations, long: Observations): string | null {
  let [shortMs, longMs, leastMs] = [0, 0, Number.POSITIVE_INFINITY];
  for (let time = 0; time < MAX_ATTEMPTS; time += 1) {
    shortMs += tookMs(run, short);
    const tookLongMs = tookMs(run, long);
    longMs += tookLongMs;
    leastMs = Math.min(leastMs, tookLongMs);
    if (leastMs < MIN_MS || longMs <= MAX_RATIO * shortMs) return null;
  }
  return `${name}: ${Math.round(shortMs)} ms in all, then ${Math.round(longMs)}`;
}

describe('documents of twice the length:', () => {
  test.each(Object.entries(LONG_DOCUMENTS))(
    '%s take at most twice the time',
    (_, { length, make }) => {
      const short = { ...SELLER, ...make(length) };
      const long = { ...SELLER, ...make(2 * length) };
      const found = tasks.map((task) => growth(task, short, long));
      expect(found.filter((one) => one !== null)).toEqual([]);
    },
    60_000,
  );
});

// Four times the length takes sixteen times as long, which no noise of a shared machine hides.
test('the test finds work that grows with the square of the length', () => {
  const quadratic: Task = ['a loop in a loop', ({ root }) => pairs(root.ok ? root.data.body : '')];
  const page = (length: number) => {
    if (!SELLER.root.ok) throw new Error('the fixture has a root');
    const data = { ...SELLER.root.data, body: 'ab'.repeat(length) };
    return { ...SELLER, root: { ...SELLER.root, data } };
  };
  expect(growth(quadratic, page(2_000), page(8_000))).toMatch(/^a loop in a loop: /);
});

function pairs(text: string): number {
  let count = 0;
  for (let one = 0; one < text.length; one += 1) {
    for (let other = one; other < text.length; other += 1) {
      if (text.charCodeAt(one) === text.charCodeAt(other)) count += 1;
    }
  }
  return count;
}
