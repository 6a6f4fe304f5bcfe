/** Paid scans beside a census that has more looks to do than it may begin. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createListener } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { utcDay } from '../../../src/service/store/statistics.ts';
import { SUMMARY, WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { startInstance } from '../../hosts/instance-process.ts';
import { goodSeller } from '../farm/good-seller.ts';
import { startFarm } from '../farm/seller-farm.ts';
import { scanMs } from '../measured-instance.ts';
import { type BenchCase, median } from '../measurement.ts';
import { newDataFolder } from '../seeded-store.ts';

/** Enough looks, four a second, for all scans. */
const SELLERS = 1_000;
const SCANS = 30;
const DELAY_MS = 80;
/** Looks that have been seen before a scan beside the census begins. */
const UNDER_WAY = 4;
const DAY_MS = 86_400_000;

/** The median of paid scans alone, in turn with paid scans of a service whose census has looks left over. */
const census: BenchCase = async ({ isQuick }) => {
  const scans = isQuick ? 2 : SCANS;
  await using sellers = await startSellers(isQuick ? 60 : SELLERS);
  await using farm = await startFarm({ kind: 'good', count: 1, delayMs: DELAY_MS });
  const [sold = ''] = farm.urls;
  await using quiet = await newDataFolder('disk');
  await using folder = await newDataFolder('disk');
  await seed(folder.database, sellers.urls);
  const listed = join(folder.database, '..', 'listed.txt');
  await writeFile(listed, `${sellers.urls[0]}\n`);
  const hosts = [sold, ...sellers.urls].map((url) => new URL(url).host).join(',');
  const settings = { SCAN_ALLOW_HOSTS: hosts, TRUST_PROXY: '127.0.0.0/8' };
  const alone = await startInstance({ ...settings, STORE_URL: `sqlite:${quiet.database}` });
  const asking = await startInstance({
    ...{ ...settings, STORE_URL: `sqlite:${folder.database}` },
    ...{ CENSUS_FILE: listed, CONTACT_EMAIL: 'census@scanner.example' },
  });
  const times = { alone: [] as number[], beside: [] as number[] };
  let meanwhile = 0;
  try {
    for (let n = -2; n < scans; n += 1) {
      asking.pause();
      const aloneMs = await scanMs(alone, sold);
      asking.wake();
      await untilAsked(sellers, sellers.requestCount + UNDER_WAY);
      const before = sellers.requestCount;
      const besideMs = await scanMs(asking, sold);
      // The first ones load what all later ones use.
      if (n < 0) continue;
      meanwhile += sellers.requestCount - before;
      times.alone.push(aloneMs);
      times.beside.push(besideMs);
    }
    const note = `${meanwhile} requests of the census during ${scans} scans`;
    const ratio = median(times.beside) / median(times.alone);
    return [
      {
        what: 'a paid scan alone',
        value: median(times.alone),
        unit: 'ms',
        note: `median of ${scans}`,
      },
      { what: 'beside a census', value: median(times.beside), unit: 'ms', note },
      { what: 'the slowest beside it', value: Math.max(...times.beside), unit: 'ms' },
      { what: 'beside, of alone', value: ratio, unit: 'x', note: 'at most 1.5 is promised' },
    ];
  } finally {
    asking.wake();
    await Promise.all([alone.kill(), asking.kill()]);
  }
};

export default census;

/** Sellers at addresses of their own, so that each is a network and a domain. */
async function startSellers(count: number) {
  const answer = goodSeller(DELAY_MS);
  const world = { requestCount: 0 };
  const server = createServer((request, response) => {
    world.requestCount += 1;
    answer(request, response);
  });
  const listeners = Array.from({ length: count }, () =>
    createListener((socket) => void server.emit('connection', socket)),
  );
  const urls: string[] = [];
  for (const [n, listener] of listeners.entries()) {
    const address = `127.${1 + (n >> 8)}.${n & 255}.1`;
    urls.push((await listenLocally(listener, address)).url);
  }
  return Object.assign(world, {
    urls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await Promise.all(listeners.map((one) => once(one.close(), 'close')));
    },
  });
}

/** Origins whose looks are due; a seventh of them has its weekly scan today. */
async function seed(database: string, urls: readonly string[]): Promise<void> {
  const store = openSqlite(database);
  const day = utcDay(Date.now());
  const resources = [
    { method: 'GET', path: WEATHER.path, source: 'bazaar' },
    { method: 'POST', path: SUMMARY.path, source: 'bazaar' },
  ];
  for (const url of urls) {
    const { host, hostname } = new URL(url);
    await store.census.saveImported({
      ...{ host, originUrl: url, domain: hostname, isChosen: true },
      listing: { sources: { bazaar: day }, resources, bazaar: [] },
      ...{ firstDay: day, lastDay: day, lookAtMs: Math.max(day * DAY_MS, Date.now() - 1_000) },
    });
  }
  await store.close();
}

async function untilAsked(
  sellers: { readonly requestCount: number },
  count: number,
): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (sellers.requestCount < count) {
    if (performance.now() > deadlineMs) throw new Error('the census asks nobody');
    await pause(20);
  }
}
