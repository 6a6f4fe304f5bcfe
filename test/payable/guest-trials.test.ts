/** Trials on the thread that judges say what the clients' own thread says, and leave nothing to the checks. */
import { afterAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/engine/pool/pool.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
import { createOracle } from '../../src/payable/create-oracle.ts';
import { openGuestTrials } from '../../src/payable/guest-trials.ts';
import { challengeV1, challengeV2, PAY_TO } from '../fixtures/observations/build-observations.ts';
import { AUTH_CAPTURE, inBody, inHeader, offering, SOLANA } from './challenges.ts';

const TASKS = new URL('../engine/fixtures/tasks.ts', import.meta.url).href;
const PATIENT = { cpuMs: 20_000, wallMs: 60_000 };
const DOMAIN = { name: 'USD Coin', version: '2' };

const pool = createPool({ ...PATIENT, threads: 1 });
const own = createOracle(PATIENT);
const guests = createOracle({ trials: openGuestTrials(pool, PATIENT) });
afterAll(() => Promise.all([own.close(), guests.close(), pool.close()]));

/** A pool that has no room for guests. */
const FULL = { tryGuest: async () => null, loadGuest: () => {} };
/** A pool in which no guest may be. */
const CLOSED = {
  tryGuest: async () => {
    throw new Error('a guest came');
  },
  loadGuest: () => {},
};

describe('a trial on the thread that judges', () => {
  it.each<readonly [string, ReturnType<typeof inHeader>]>([
    ['version 2', inHeader(challengeV2())],
    ['version 1', inBody(challengeV1())],
    ['no challenge', inHeader({ x402Version: 2 })],
    ['nothing', inHeader(null)],
    ['many offers', offering({}, { amount: '5000000' }, { scheme: 'barter' })],
    ['auth-capture', offering({ scheme: 'auth-capture', extra: AUTH_CAPTURE })],
    [
      'batch-settlement',
      offering({ scheme: 'batch-settlement', extra: { ...DOMAIN, receiverAuthorizer: PAY_TO } }),
    ],
    ['an amount that is none', offering({ amount: 'a cent' })],
    ['a recipient that is none', offering({ payTo: 'me' })],
    ['members of every object', offering(JSON.parse('{"__proto__": {"polluted": true}}'))],
  ])('says of %s what the own thread says', async (_, challenges) => {
    expect(await guests.judge(challenges)).toEqual(await own.judge(challenges));
  });

  it('leaves nothing that every object inherits, and lets nothing be left', async () => {
    const nested: JsonObject = JSON.parse('{"extra": {"__proto__": {"polluted": true}}}');
    await guests.judge(offering(nested));
    const said = await pool.run({ module: TASKS, exportName: 'inherited', input: null });
    expect(said).toEqual({ polluted: null, refused: true });
  });

  it('reaches no network', async () => {
    await guests.judge(offering({}));
    const call = { module: TASKS, exportName: 'fetched', input: 'http://127.0.0.1:9/' };
    expect(await pool.tryGuest(call)).toEqual({
      output: expect.stringContaining('No network here'),
    });
  });
});

describe('where the thread that judges does not do', () => {
  it('tries on the own thread', async () => {
    const oracle = createOracle({ trials: openGuestTrials(FULL, PATIENT) });
    try {
      const challenges = offering({});
      expect(await oracle.judge(challenges)).toEqual(await own.judge(challenges));
    } finally {
      await oracle.close();
    }
  });

  it('tries Solana on the own thread at once', async () => {
    const oracle = createOracle({ trials: openGuestTrials(CLOSED, PATIENT) });
    try {
      const { resources } = await oracle.judge(offering(SOLANA));
      expect(resources).toEqual([expect.objectContaining({ payableBy: 'default' })]);
    } finally {
      await oracle.close();
    }
  });
});
