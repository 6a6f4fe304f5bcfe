/** Origins that hang, drip, bomb, loop and reset still get reports, and do not disturb other scans. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BOMBS } from '../../fixtures/origins/bombs.ts';
import { type CraftedSeller, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { BROKEN } from '../../fixtures/origins/hostile-behaviours.ts';
import { type HostileOrigin, startHostileOrigin } from '../../fixtures/origins/hostile-origin.ts';
import { NO_OPENAPI_CELLS, UNREAD_OPENAPI_CELLS, UNSEEN_CELLS } from './crafted/row.ts';
import { type EngineUnderTest, listCells, resultOf, startEngine } from './engine-under-test.ts';
import type { ScanCosts } from './scan-in-this-process.ts';

/** Production allows 10 s. These limits are short for a test, and long enough for a busy machine. */
const LIMITS = { requestTimeoutMs: 2_000, connectTimeoutMs: 700, dialTimeoutMs: 1_500 };

let engine: EngineUnderTest;
let perfectCells: readonly string[];
const unhandled: unknown[] = [];
const collectError = (error: unknown) => unhandled.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', collectError);
  engine = await startEngine();
  const seller = await startCraftedSeller();
  perfectCells = listCells(await engine.scan(seller.url));
  await seller[Symbol.asyncDispose]();
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  process.off('unhandledRejection', collectError);
  expect(unhandled).toEqual([]);
});

/** The scan pays nothing, posts nothing, and sends at most 60 requests on 6 connections. */
function expectHarmlessRequests({
  requests,
  peakSockets,
}: Pick<HostileOrigin, 'requests' | 'peakSockets'>) {
  expect(peakSockets()).toBeLessThanOrEqual(6);
  expect(requests.length).toBeLessThanOrEqual(60);
  expect(new Set(requests.map(({ method }) => method))).not.toContain('POST');
  for (const { head } of requests) expect(head).not.toMatch(/\r\n(?:payment-|x-payment)/i);
}

describe.concurrent('an origin that', () => {
  test.each<readonly [keyof typeof BROKEN, cell: string, evidencePart: string]>([
    ['accepts and says nothing', 'P1 fail silent', 'timeout'],
    ['hangs after the headers', 'S1 fail unreadable', 'broke off (timeout)'],
    ['drips a body', 'S1 fail unreadable', 'broke off (timeout)'],
    ['drips chunks', 'S6 fail unreadable', 'broke off (timeout)'],
    ['drips headers', 'P1 fail silent', 'timeout'],
    ['drips 1xx answers', 'P1 fail silent', '8'],
    ['resets', 'P1 fail silent', 'reset'],
    ['resets in the middle of a header', 'P1 fail silent', 'reset'],
    ['talks another protocol', 'P1 fail silent', 'malformed'],
    ['sends headers without end', 'P1 fail silent', 'headers exceed 64 KiB'],
    ['sends one header without end', 'P1 fail silent', 'headers exceed 64 KiB'],
    ['sends chunks without end', 'S1 fail soft-404', 'the same page'],
    ['sends a chunk size that is none', 'S1 fail unreadable', 'broke off (malformed)'],
    ['leads from page to page', 'P1 fail silent', 'more than 5 redirects'],
    ['answers with a stray answer after each', 'P2 fail none-found', 'GET /: 200'],
  ])('%s', async (name, cell, evidencePart) => {
    await using origin = await startHostileOrigin(BROKEN[name]);
    const outcome = await engine.scan(origin.url, undefined, { limits: LIMITS });
    expect(outcome.report.results).toHaveLength(25);
    expect(outcome.report.grade).toBe('F');
    expect(listCells(outcome)).toContain(cell);
    expect(resultOf(outcome, cell.slice(0, 2)).evidence).toContain(evidencePart);
    expectHarmlessRequests(origin);
  });
});

/** The cells that change if the scan cannot read the OpenAPI document. */
function toOpenApiCells(outcome: string): readonly string[] {
  return ['P6 warn undeclared', `S1 fail ${outcome}`, ...NO_OPENAPI_CELLS];
}
/** The cells that change if the OpenAPI document exceeds our limits. */
const OVER_LIMIT_CELLS = ['P6 warn undeclared', 'S1 warn over-limit', ...UNREAD_OPENAPI_CELLS];

describe('a seller of', () => {
  test.each<readonly [keyof typeof BOMBS, changedCells: readonly string[]]>([
    ['OpenAPI packed to a thousandth', OVER_LIMIT_CELLS],
    ['OpenAPI packed twice', toOpenApiCells('unreadable')],
    ['a challenge body packed to a thousandth', []],
    ['five million arrays in one another', [...OVER_LIMIT_CELLS, 'S8 warn over-limit']],
    ['arrays in one another, closed, under the cap', OVER_LIMIT_CELLS],
    [
      'JSON of more values than are read',
      [
        'P2 warn unread',
        ...UNSEEN_CELLS,
        'S1 warn over-limit',
        ...UNREAD_OPENAPI_CELLS,
        'S5 warn unseen',
        'S6 warn over-limit',
      ],
    ],
    ['a hundred thousand links', ['S11 fail many-dead']],
    ['as many links as fit', ['S11 fail many-dead']],
    ['brackets that never close', ['S9 warn no-pointer']],
    ['hundreds of offers', ['P3 fail no-domain', 'P4 fail missing']],
    ['a header of 60 KiB', ['P4 fail long-head']],
    ['a pattern that backtracks for ever', ['S5 warn no-output-example']],
    ['a schema that doubles at each step', ['S5 fail limits']],
    ['a schema that leads to itself', ['S5 fail bad-schema']],
    ['two thousand rules with a hundred stars', []],
  ])('%s', async (name, changedCells) => {
    const outcome = await scanBomb(name);
    expect(listCells(outcome).filter((cell) => !perfectCells.includes(cell))).toEqual(changedCells);
  });

  test.each([
    'ten thousand operations and circles of references',
    'members that are JavaScript’s own',
  ])('%s gets all 25 results', async (name) => {
    const outcome = await scanBomb(name);
    expect(outcome.report.results).toHaveLength(25);
  });
});

async function scanBomb(name: string) {
  await using seller = await startCraftedSeller({ answers: BOMBS[name]?.() ?? {} });
  const outcome = await engine.scan(seller.url);
  expect(seller.requests.length).toBeLessThanOrEqual(60);
  expect(seller.peakSockets()).toBeLessThanOrEqual(6);
  return outcome;
}

describe('the clock of a scan', () => {
  test('ends before the documents are judged, and the scan still judges them', async () => {
    await using seller = await startCraftedSeller({ hangs: ['/llms.txt', '/favicon.ico'] });
    const outcome = await engine.scan(seller.url, undefined, {
      limits: { requestTimeoutMs: 120_000, connectTimeoutMs: 60_000 },
      gatherDeadlineMs: 3_000,
    });
    expect(outcome.report.results).toHaveLength(25);
    expect(outcome.report.exhausted).toBeUndefined();
    expect(resultOf(outcome, 'S1')).toMatchObject({ status: 'pass' });
    expect(resultOf(outcome, 'S7')).toMatchObject({ outcome: 'unreadable' });
    expect(outcome.observations.resources.planFailure).toBeUndefined();
  });

  test('ends requests before their own time limits, and the scan grades the answers that it has', async () => {
    await using seller = await startCraftedSeller({ hangs: ['/weather', '/summaries'] });
    const outcome = await engine.scan(seller.url, undefined, {
      limits: { requestTimeoutMs: 120_000, connectTimeoutMs: 60_000 },
      gatherDeadlineMs: 4_000,
    });
    expect(outcome.timing.gatherMs).toBeLessThan(30_000);
    expect(resultOf(outcome, 'S1')).toMatchObject({ status: 'pass' });
    expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'fail', outcome: 'no-402' });
    expect(resultOf(outcome, 'P2').evidence).toContain('timeout');
  });
});

describe('twenty hostile origins at once, in their own process', () => {
  test('each get a report in time, and memory and event loop stay within limits', async () => {
    const broken = Object.values(BROKEN)
      .slice(0, 10)
      .map((behave) => startHostileOrigin(behave));
    const bombs = Object.values(BOMBS)
      .slice(0, 10)
      .map((make) => startCraftedSeller({ answers: make() }));
    const origins: readonly (HostileOrigin | CraftedSeller)[] = await Promise.all([
      ...broken,
      ...bombs,
    ]);
    onTestFinished(async () => {
      await Promise.all(origins.map((origin) => origin[Symbol.asyncDispose]()));
    });
    const {
      scans,
      grownMib,
      peakMib,
      delayP99Ms,
      unhandled: rejections,
    } = await scanInOtherProcess(origins);
    expect(rejections).toEqual([]);
    expect(scans).toHaveLength(3 * 20);
    for (const { results, totalMs } of scans) {
      expect(results).toBe(25);
      expect(totalMs).toBeLessThan(75_000);
    }
    expect(Math.min(...grownMib)).toBeLessThan(64);
    expect(Math.min(...peakMib)).toBeLessThan(64);
    // The service promises 200 ms, but a shared machine cannot keep this promise.
    expect(delayP99Ms).toBeLessThan(2_000);
    // Three measured rounds follow one unmeasured round.
    for (const { requests } of origins) expect(requests.length).toBeLessThanOrEqual(4 * 60);
  }, 240_000);
});

async function scanInOtherProcess(
  origins: readonly { readonly url: string }[],
): Promise<ScanCosts> {
  const script = fileURLToPath(new URL('./scan-in-this-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--no-warnings',
    script,
    ...origins.map(({ url }) => url),
  ]);
  return JSON.parse(stdout);
}
