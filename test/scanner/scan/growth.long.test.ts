/** Every check and reader takes linear time: a document of twice the length takes twice the time. */
import { beforeAll, describe, expect, test } from 'vitest';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import type { CheckDefinition } from '../../../src/scanner/engine/define-check.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import { makePlan } from '../../../src/scanner/probe/plan/plan.ts';
import { describeChallenges, describeOrigin } from '../../../src/scanner/scan/describe-origin.ts';
import { LONG_DOCUMENTS } from '../../fixtures/long-documents.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';

const SELLER = perfectSeller();
/** Shorter times prove nothing, because timer ticks and garbage collection take as long. */
const MIN_MS = 15;
/** Linear work takes twice the time, quadratic work takes four times. */
const MAX_RATIO = 3;
const MAX_ATTEMPTS = 12;

type Task = readonly [name: string, run: (observations: Observations) => unknown];
const tasks: Task[] = [
  ['plan', (observations) => makePlan(observations, createKit())],
  ['origin', (observations) => describeOrigin(observations, createKit())],
  ['challenges', (observations) => describeChallenges(observations, createKit())],
];

beforeAll(async () => {
  for (const { impl, url } of await discoverChecks()) {
    const module: { readonly default: CheckDefinition } = await import(url);
    tasks.push([impl, (observations) => module.default.evaluate(observations, createKit())]);
  }
  for (const [, run] of tasks) run(SELLER);
});

function measureMs(run: Task[1], observations: Observations): number {
  const usageBefore = process.threadCpuUsage();
  run(observations);
  const { user, system } = process.threadCpuUsage(usageBefore);
  return (user + system) / 1_000;
}

/**
 * Returns null if the work is linear or too short to measure. A busy machine is measured again. Sums are compared,
 * because a thread clock that ticks every 4 ms makes the smallest of several short times too small.
 */
function describeGrowth([name, run]: Task, short: Observations, long: Observations): string | null {
  let [shortMs, longMs, minLongMs] = [0, 0, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    shortMs += measureMs(run, short);
    const tookLongMs = measureMs(run, long);
    longMs += tookLongMs;
    minLongMs = Math.min(minLongMs, tookLongMs);
    if (minLongMs < MIN_MS || longMs <= MAX_RATIO * shortMs) return null;
  }
  return `${name}: ${Math.round(shortMs)} ms in all, then ${Math.round(longMs)}`;
}

describe('documents of twice the length:', () => {
  test.each(Object.entries(LONG_DOCUMENTS))(
    '%s take about twice the time, not four times',
    (_, { length, make }) => {
      const short = { ...SELLER, ...make(length) };
      const long = { ...SELLER, ...make(2 * length) };
      const growths = tasks.map((task) => describeGrowth(task, short, long));
      expect(growths.filter((growth) => growth !== null)).toEqual([]);
    },
    60_000,
  );
});

// Four times the length takes sixteen times as long, which no noise of a shared machine hides.
test('the test finds work that grows with the square of the length', () => {
  const quadratic: Task = [
    'a loop in a loop',
    ({ root }) => countEqualPairs(root.ok ? root.data.body : ''),
  ];
  const page = (length: number) => {
    if (!SELLER.root.ok) throw new Error('the fixture has a root');
    const data = { ...SELLER.root.data, body: 'ab'.repeat(length) };
    return { ...SELLER, root: { ...SELLER.root, data } };
  };
  expect(describeGrowth(quadratic, page(2_000), page(8_000))).toMatch(/^a loop in a loop: /);
});

function countEqualPairs(text: string): number {
  let count = 0;
  for (let first = 0; first < text.length; first += 1) {
    for (let second = first; second < text.length; second += 1) {
      if (text.charCodeAt(first) === text.charCodeAt(second)) count += 1;
    }
  }
  return count;
}
