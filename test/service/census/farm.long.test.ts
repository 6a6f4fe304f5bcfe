/**
 * The requests that the sellers of a small farm get must keep each promise of the census.
 * `npm run test:census` plays a large farm.
 */
import { expect, test } from 'vitest';
import { judge } from './farm/judges.ts';
import { type Played, playDays } from './farm/play.ts';
import { playShared } from './farm/two-instances.ts';

const listBreaches = (played: Played) =>
  judge(played).flatMap(({ promise, breaches }) =>
    breaches.map((breach) => `${promise}: ${breach}`),
  );

test('nine days of 60 sellers and two farms keep each promise', async () => {
  const played = await playDays({ seed: 2, origins: 60, hours: [10, 12], days: 9, realScans: 50 });
  expect(listBreaches(played)).toEqual([]);
  expect(played.kills).toHaveLength(3);
  expect(played.words.length).toBeGreaterThan(800);
}, 600_000);

test('two instances on one database share two days, and request no origin twice', async (context) => {
  const played = await playShared({ seed: 3, origins: 30, days: 2 });
  if ('unavailable' in played) return context.skip(played.unavailable);
  expect(listBreaches(played)).toEqual([]);
  expect(played.troubles).toEqual([]);
}, 600_000);
