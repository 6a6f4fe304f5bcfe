/** The table of schemes beside the clients: what they refuse, no finding may call sound. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOracle, type Oracle } from '../../src/payable/create-oracle.ts';
import { EXTREME_OFFERS, UNSETTLED_OFFERS } from '../fixtures/observations/unsettled-offers.ts';
import { offering } from './challenges.ts';

let oracle: Oracle;
beforeAll(() => {
  oracle = createOracle({ scanMs: 60_000 });
});
afterAll(() => oracle.close());

it.each(UNSETTLED_OFFERS)('nobody is paid by $name', async ({ change }) => {
  const [one] = (await oracle.judge(offering(change))).resources;
  expect([one?.payableBy, one?.offers[0]?.verdict]).toEqual(['nobody', 'refuses']);
});

it.each(EXTREME_OFFERS)('a client signs $name', async ({ change }) => {
  const [one] = (await oracle.judge(offering(change))).resources;
  expect(one?.offers[0]?.words ?? 'signs').not.toContain('facilitators refuse it');
  expect(one?.payableBy).not.toBe('nobody');
});
