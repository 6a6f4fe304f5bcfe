/**
 * A farm of sellers, a census on a moved clock, and a judgement of each promise by what the sellers saw; then a small
 * farm for two instances on one database.
 */
import { defineSoak, SEED } from '../../soak/soak.ts';
import { judge } from './farm/judges.ts';
import { type Played, playDays } from './farm/play.ts';
import { playShared } from './farm/two-instances.ts';

const SHOWN = 10;

export default defineSoak({
  flags: {
    origins: { from: 1, to: 100_000, usual: 2_000 },
    days: { from: 1, to: 60, usual: 9 },
    seed: { ...SEED, usual: 1 },
    /** Hosts of a thousand whose weekly scans are whole; all others ask the listed resources only. */
    'real-scans': { from: 0, to: 1_000, usual: 50 },
  },

  async play({ origins, days, seed, 'real-scans': realScans }) {
    const startMs = performance.now();
    const seconds = () => `${((performance.now() - startMs) / 1_000).toFixed(0)} s`;
    const played = await playDays({
      ...{ seed, realScans, origins, days },
      hours: [0, 24],
      onDay: (day, requests) =>
        console.log(`day ${day}: ${requests} requests so far, ${seconds()}`),
    });
    const real = `whole ones of sellers that redirect, rest, refuse or are dead, and of ${realScans / 10} % of the others`;
    console.log(`${played.scans.size} weekly scans: ${real}`);
    const holds = print(played);
    console.log(`${days} days in ${seconds()}`);

    const shared = await playShared({ seed, origins: 60, days: 3 });
    if ('unavailable' in shared) {
      console.log(`not shown  two instances on one database: ${shared.unavailable}`);
      return holds;
    }
    console.log('two instances on one database');
    return print(shared) && holds;
  },
});

/** Returns false if a promise is broken. */
function print(played: Played): boolean {
  for (const trouble of new Set(played.troubles)) console.log(`told as an error: ${trouble}`);
  const judged = judge(played);
  for (const { promise, facts, breaches } of judged) {
    console.log(`${breaches.length === 0 ? 'holds' : 'BROKEN'}  ${promise}: ${facts}`);
    for (const breach of breaches.slice(0, SHOWN)) console.log(`        ${breach}`);
    if (breaches.length > SHOWN) console.log(`        and ${breaches.length - SHOWN} more`);
  }
  return judged.every(({ breaches }) => breaches.length === 0);
}
