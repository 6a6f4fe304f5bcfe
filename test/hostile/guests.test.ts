/** The fault farm scanned as the command line does: its clients are guests of the thread that judges. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cells, type EngineUnderTest, startEngine } from '../scan/engine-under-test.ts';
import { FARM, type RunningFarm, startFarm } from './farm.ts';
import { WAITING_KINDS } from './farm-origin.ts';

let farm: RunningFarm;
let guests: EngineUnderTest;
let own: EngineUnderTest;

beforeAll(async () => {
  [farm, guests, own] = await Promise.all([
    startFarm(),
    startEngine({ withGuests: true }),
    startEngine(),
  ]);
});
afterAll(async () => {
  await Promise.all([
    guests[Symbol.asyncDispose](),
    own[Symbol.asyncDispose](),
    farm[Symbol.asyncDispose](),
  ]);
});

/** What waits is no work of any client. */
const WORKING = FARM.filter(({ kind }) => !WAITING_KINDS.has(kind));

describe('an origin that', () => {
  it.each(WORKING)('$name ($kind): $finds', async ({ name, finds }) => {
    const url = farm.urls.get(name) ?? '';
    const outcome = await guests.scan(url, undefined, { extraCa: [farm.ca] });
    expect(cells(outcome)).toContain(finds);
    const { observations } = await own.scan(url, undefined, { extraCa: [farm.ca] });
    expect(outcome.observations.payability).toEqual(observations.payability);
  });
});
