/** Free look-ups of one process on the embedded store, beside Fastify by itself. */
import { copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { freePort } from '../../fixtures/service/free-port.ts';
import { TERMS } from '../../service/payment/payer.ts';
import {
  BROWSERS,
  type Clients,
  type LoadRequest,
  load,
  type Manner,
  SCRIPTS,
} from '../http/load.ts';
import { type ServerProcess, startServer } from '../http/server-process.ts';
import type { BenchCase, Measurement } from '../measurement.ts';
import { seedDirectory } from '../seeded-directory.ts';
import { hostOf, newDataFolder, publishSample, publishScans, sampleScan } from '../seeded-store.ts';

const PLAIN = fileURLToPath(new URL('../http/plain-server.ts', import.meta.url));
const SERVICE = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const ROUNDS = 3;
/** Rounds before the first one that counts: a service that is asked so often has compiled its code. */
const WARM_UP_ROUNDS = 4;
/** Reports of so many hosts are stored; a million would fill the memory. */
const MAX_WITH_RESULTS = 5_000;
const MAX_IN_MEMORY = 100_000;

type Cost = { readonly perSecond: number; readonly cpuMicros: number };
type Route = {
  readonly status: number;
  readonly request: (n: number) => LoadRequest;
  /** Scripts unless it says otherwise. */
  readonly manner?: Manner;
};

const PLAIN_ROUTE: Route = { status: 200, request: () => ({ method: 'GET', path: '/' }) };

const reads: BenchCase = async ({ isQuick, hosts = isQuick ? [20] : [20, 2_000] }) => {
  const rows: Measurement[] = [];
  for (const size of hosts) rows.push(...(await readsOf(size, isQuick ? 100 : 700)));
  return rows;
};

export default reads;

async function readsOf(hosts: number, roundMs: number): Promise<Measurement[]> {
  await using data = await newDataFolder(hosts > MAX_IN_MEMORY ? 'disk' : 'scratch');
  await seed(data.database, hosts);

  const folder = dirname(data.database);
  await using bare = await startPlain('bare', folder);
  await using dressed = await startPlain('dressed', folder);
  await using service = await startService('service', data.database, folder);
  // A store has one process: this one reads a copy.
  await copyFile(data.database, `${data.database}-of-undressed`);
  await using undressed = await startService('undressed', `${data.database}-of-undressed`, folder);
  const clients: Clients = { sent: 0 };
  const rows: Measurement[] = [];
  for (const [what, route] of Object.entries(routesOf(hosts))) {
    const plain = { ...PLAIN_ROUTE, ...(route.manner && { manner: route.manner }) };
    const [ofBare, ofDressed, ofService, ofUndressed] = await inTurn(
      [
        [bare, plain],
        [dressed, plain],
        [service, route],
        [undressed, route],
      ],
      roundMs,
      clients,
    );
    if (!ofBare || !ofDressed || !ofService || !ofUndressed)
      throw new Error('a server was not measured');
    const name = `${what}, ${hosts.toLocaleString('en-GB')} hosts`;
    rows.push(
      { what: name, value: ofService.perSecond, unit: 'reads/s' },
      { what: `${name}, processor time`, value: ofService.cpuMicros, unit: 'µs' },
      ...ratios(`${name}, of a bare route`, ofService, ofBare),
      ...ratios(`${name}, of a dressed route`, ofService, ofDressed),
      ...ratios(`${name}, without limits and log, of a bare route`, ofUndressed, ofBare),
    );
  }
  return rows;
}

async function seed(database: string, hosts: number): Promise<void> {
  const sample = await sampleScan();
  if (hosts > MAX_WITH_RESULTS) {
    const published = publishSample(sample);
    const seed = { hosts, sample: published, nowMs: Date.now(), nameOf: hostOf, hasHidden: false };
    await seedDirectory(database, seed);
    return;
  }
  const store = openSqlite(database);
  await publishScans(store, sample, { hosts, withResults: true });
  await store.close();
}

function ratios(what: string, ours: Cost, other: Cost): Measurement[] {
  return [
    { what, value: ours.perSecond / other.perSecond, unit: 'x', note: 'requests per second' },
    { what, value: other.cpuMicros / ours.cpuMicros, unit: 'x', note: 'processor time a request' },
  ];
}

function routesOf(hosts: number): Readonly<Record<string, Route>> {
  const any = (n: number) => hostOf((n * 7_919) % hosts);
  const get = (path: (n: number) => string): Route => ({
    status: 200,
    request: (n) => ({ method: 'GET', path: path(n) }),
  });
  const challenge: Route = {
    status: 402,
    request: () => ({ method: 'POST', path: '/v1/scan', body: '{"url":"shop.example.com"}' }),
  };
  return {
    '/v1/status': get((n) => `/v1/status?url=https://${any(n)}`),
    '/v1/checks': get(() => '/v1/checks'),
    'the 402': challenge,
    'the 402, asked by browsers': { ...challenge, manner: BROWSERS },
    '/v1/directory': get((n) => `/v1/directory?pageSize=20&page=${n % Math.min(hosts / 20, 5)}`),
    'the report page': get((n) => `/o/${any(n)}`),
  };
}

/** Side by side in small turns, so that a busy machine is busy for all of them. */
async function inTurn(
  servers: readonly (readonly [ServerProcess, Route])[],
  roundMs: number,
  clients: Clients,
): Promise<Cost[]> {
  const sums = servers.map(() => ({ count: 0, seconds: 0, cpu: 0 }));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, [server, { status, request, manner = SCRIPTS }]] of servers.entries()) {
      const cpuBefore = await server.processorSeconds();
      const one = await load({
        port: server.port,
        status,
        durationMs: round === 0 ? WARM_UP_ROUNDS * roundMs : roundMs,
        request,
        clients,
        manner,
      });
      const cpu = (await server.processorSeconds()) - cpuBefore;
      const sum = sums[index];
      // The first round warms up.
      if (round === 0 || sum === undefined) continue;
      sum.count += one.count;
      sum.seconds += one.seconds;
      sum.cpu += cpu;
    }
  }
  return sums.map(({ count, seconds, cpu }) => ({
    perSecond: count / seconds,
    cpuMicros: (cpu * 1_000_000) / count,
  }));
}

function startPlain(name: 'bare' | 'dressed', folder: string): Promise<ServerProcess> {
  return startServer({
    name,
    folder,
    args: [PLAIN, name, `${folder}/${name}-lines.log`],
    portIn: (output) => Number(/^port (\d+)$/m.exec(output)?.[1] ?? 0) || null,
  });
}

/** Starts the service as `npm start` does behind a proxy; `undressed` has no limits and no log. */
async function startService(
  name: 'service' | 'undressed',
  database: string,
  folder: string,
): Promise<ServerProcess> {
  const port = await freePort();
  return startServer({
    name,
    folder,
    args: [SERVICE],
    environment: {
      PORT: String(port),
      BASE_URL: 'http://scanner.test',
      PAY_TO: TERMS.payTo,
      X402SCAN_URL: '',
      BAZAAR_URL: '',
      ECOSYSTEM_URL: '',
      TRUST_PROXY: '127.0.0.0/8',
      STORE_URL: `sqlite:${database}`,
      ...(name === 'undressed' ? { RATE_LIMIT: 'off', LOG_LEVEL: 'silent' } : {}),
    },
    portIn: (output) => (output.includes('Catalog: ') ? port : null),
  });
}
