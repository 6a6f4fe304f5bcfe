/** Days of a small farm: each promise by what its sellers saw. `npm run test:census` plays a large one. */
import { expect, test } from 'vitest';
import { judge } from './farm/judges.ts';
import { type Played, playDays } from './farm/play.ts';
import { playShared } from './farm/two-instances.ts';

const breachesOf = (played: Played) =>
  judge(played).flatMap(({ promise, breaches }) => breaches.map((one) => `${promise}: ${one}`));

test('nine days of 60 sellers and two farms keep each promise', async () => {
  const played = await playDays({ seed: 2, origins: 60, hours: [10, 12], days: 9, realScans: 50 });
  expect(breachesOf(played)).toEqual([]);
  expect(played.kills).toHaveLength(3);
  expect(played.words.length).toBeGreaterThan(800);
}, 600_000);

test('two instances on one database share two days, and ask nobody twice', async (context) => {
  const played = await playShared({ seed: 3, origins: 30, days: 2 });
  if ('unavailable' in played) return context.skip(played.unavailable);
  expect(breachesOf(played)).toEqual([]);
  expect(played.troubles).toEqual([]);
}, 600_000);
