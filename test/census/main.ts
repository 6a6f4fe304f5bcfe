/**
 * `npm run test:census -- --origins 2000 --days 9`: a farm of sellers, a census on a moved clock, and a judgement of each
 * promise by what the sellers saw; then a small farm for two instances on one database. Exit code 1: a promise is broken.
 */
import { parseArgs } from 'node:util';
import { judge } from './farm/judges.ts';
import { type Played, playDays } from './farm/play.ts';
import { playShared } from './farm/two-instances.ts';

const SHOWN = 10;

const { values } = parseArgs({
  options: {
    origins: { type: 'string', default: '2000' },
    days: { type: 'string', default: '9' },
    seed: { type: 'string', default: '1' },
    /** Hosts of a thousand whose weekly scans are whole; all others ask the listed resources only. */
    'real-scans': { type: 'string', default: '50' },
    'fake-scans': { type: 'boolean', default: false },
  },
});
const began = performance.now();
const seconds = () => `${((performance.now() - began) / 1_000).toFixed(0)} s`;
const seed = Number(values.seed);
const realScans = values['fake-scans'] ? 0 : Number(values['real-scans']);

function print(played: Played): void {
  for (const trouble of new Set(played.troubles)) console.log(`told as an error: ${trouble}`);
  for (const { promise, facts, breaches } of judge(played)) {
    console.log(`${breaches.length === 0 ? 'holds' : 'BROKEN'}  ${promise}: ${facts}`);
    for (const breach of breaches.slice(0, SHOWN)) console.log(`        ${breach}`);
    if (breaches.length > SHOWN) console.log(`        and ${breaches.length - SHOWN} more`);
    if (breaches.length > 0) process.exitCode = 1;
  }
}

const played = await playDays({
  ...{ seed, realScans, origins: Number(values.origins), days: Number(values.days) },
  hours: [0, 24],
  onDay: (day, requests) => console.log(`day ${day}: ${requests} requests so far, ${seconds()}`),
});
const real = `whole ones of sellers that redirect, rest, refuse or are dead, and of ${realScans / 10} % of the others`;
console.log(`${played.scans.size} weekly scans: ${real}`);
print(played);
console.log(`${values.days} days in ${seconds()}`);

const shared = await playShared({ seed, origins: 60, days: 3 });
if ('unavailable' in shared) {
  console.log(`not shown  two instances on one database: ${shared.unavailable}`);
} else {
  console.log('two instances on one database');
  print(shared);
}
