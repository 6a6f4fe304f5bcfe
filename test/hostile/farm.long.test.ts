/** The farm has origins with one fault each. A report has 25 results, and one of them names the fault. */
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProbeThread, type ProbeThread } from '../../src/scanner/probe/client/probe-thread.ts';
import { type EngineUnderTest, listCells, startEngine } from '../scanner/scan/engine-under-test.ts';
import { FARM, type RunningFarm, startFarm } from './farm.ts';
import { WAITING_KINDS } from './farm-origin.ts';
import { SHORT_CLOCKS } from './short-clocks.ts';
import { WRITES_THE_TABLE, withFarmTable } from './table.ts';

/** The origins are scanned in parallel, so a request to an origin that answers may also wait. */
const PATIENT_CLOCKS = { ...SHORT_CLOCKS, requestTimeoutMs: 3_000 };

let farm: RunningFarm;
let engine: EngineUnderTest;
let thread: ProbeThread;
const errors: unknown[] = [];

beforeAll(async () => {
  thread = openProbeThread({ onError: (_, error) => errors.push(error) });
  [farm, engine] = await Promise.all([startFarm(), startEngine()]);
});
afterAll(async () => {
  await Promise.all([engine[Symbol.asyncDispose](), thread.close(), farm[Symbol.asyncDispose]()]);
  expect(errors).toEqual([]);
  expect(farm.reachedInside()).toBe(0);
});

test('the farm has at least 60 origins, each under its own name', () => {
  expect(FARM.length).toBeGreaterThanOrEqual(60);
  expect(new Set(FARM.map(({ name }) => name)).size).toBe(FARM.length);
});

test('SECURITY.md has the current table of the farm', async () => {
  const file = new URL('../../SECURITY.md', import.meta.url);
  const document = await readFile(file, 'utf8');
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(file, withFarmTable(document));
  else expect(withFarmTable(document), WRITES_THE_TABLE).toBe(document);
});

describe.concurrent('a hostile origin', () => {
  test.each(FARM)('$name ($kind) gets the result $finding', async ({ name, kind, finding }) => {
    const outcome = await engine.scan(farm.urls.get(name) ?? '', undefined, {
      limits: WAITING_KINDS.has(kind) ? PATIENT_CLOCKS : {},
      extraCa: [farm.ca],
      createClient: thread.createClient,
    });
    expect(listCells(outcome)).toHaveLength(25);
    expect(listCells(outcome)).toContain(finding);
  });
});
