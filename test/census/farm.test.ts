/** Nine days of a small farm: each promise by what its sellers saw. `npm run test:census` plays a large one. */
import { expect, test } from 'vitest';
import { judge } from './farm/judges.ts';
import { playDays } from './farm/play.ts';

test('nine days of 60 sellers and two farms keep each promise', async () => {
  const played = await playDays({ seed: 2, origins: 60, hours: [10, 12], days: 9, realScans: 50 });
  const verdicts = judge(played);
  expect(
    verdicts.flatMap(({ promise, breaches }) => breaches.map((one) => `${promise}: ${one}`)),
  ).toEqual([]);
  expect(played.kills).toHaveLength(3);
  expect(played.words.length).toBeGreaterThan(800);
}, 600_000);
