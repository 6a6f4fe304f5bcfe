/** The table of schemes agrees with the clients: no finding calls a refused offer sound. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clients, openClients } from '../../../src/scanner/clients/open-clients.ts';
import { KNOWN_PAIRS, NAMED_OFFERS } from '../../fixtures/observations/known-pairs.ts';
import { EXTREME_OFFERS, UNSETTLED_OFFERS } from '../../fixtures/observations/unsettled-offers.ts';
import { offering } from './challenges.ts';

let clients: Clients;
beforeAll(() => {
  clients = openClients({ scanMs: 60_000 });
});
afterAll(() => clients.close());

test.each(UNSETTLED_OFFERS)('no client can pay $name', async ({ change }) => {
  const [resource] = (await clients.tryChallenges(offering(change))).resources;
  expect([resource?.payableBy, resource?.offers[0]?.verdict]).toEqual(['nobody', 'refuses']);
});

test.each(EXTREME_OFFERS)('a client signs $name', async ({ change }) => {
  const [resource] = (await clients.tryChallenges(offering(change))).resources;
  expect(resource?.offers[0]?.words ?? 'signs').not.toContain('facilitators refuse it');
  expect(resource?.payableBy).not.toBe('nobody');
});

test.each(KNOWN_PAIRS)(
  'with a fault, nobody can pay $name; without a fault, the verdict is not "nobody"',
  async (pair) => {
    const { offer, alsoSound = [], wrong } = pair;
    for (const [name, change] of [['printed', {}] as const, ...alsoSound]) {
      const [resource] = (await clients.tryChallenges(offering({ ...offer, ...change }))).resources;
      expect([name, resource?.payableBy]).not.toEqual([name, 'nobody']);
    }
    for (const [name, change] of wrong) {
      const [resource] = (await clients.tryChallenges(offering({ ...offer, ...change }))).resources;
      expect([name, resource?.payableBy]).toEqual([name, 'nobody']);
    }
  },
);

test.each(NAMED_OFFERS)(
  'who can pay %s is unknown, because no client judges it',
  async (_, offer) => {
    const [resource] = (await clients.tryChallenges(offering(offer))).resources;
    expect([resource?.payableBy, resource?.offers[0]?.verdict]).toEqual(['unknown', 'unsupported']);
  },
);
