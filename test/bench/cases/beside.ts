import { Agent, request as httpRequest } from 'node:http';
import {
  DOCUMENT_OFFER,
  type OperationId,
  REVISIONS,
  UNPAID_ANSWERS_PER_MINUTE,
} from '../../../src/service/config/revision.ts';
import { openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { type InstanceProcess, startInstance } from '../../hosts/instance-process.ts';
import { startFarm } from '../farm/seller-farm.ts';
import type { LoadRequest } from '../http/load.ts';
import { scanMs } from '../measured-instance.ts';
import { type BenchCase, median } from '../measurement.ts';
import { seedDirectory } from '../seeded-directory.ts';
import { seedHostDays } from '../seeded-statistics.ts';
import {
  hostOf,
  newDataFolder,
  publishSample,
  publishScans,
  sampleScan,
  usedBytes,
} from '../seeded-store.ts';

const HOST_DAYS = 20_000;
/** Hosts with a stored report, whose pages are read. */
const REPORTS = 20;
const SCANS = 20;
/** Sockets of the client. */
const SOCKETS = 32;
const WARMING = '10.9.9.8';
const CLIENT = '10.9.9.9';

/** The median of paid scans, alone and beside a client who sends all that its limits allow a minute meanwhile. */
const beside: BenchCase = async ({ isQuick }) => {
  const scans = isQuick ? 2 : SCANS;
  await using folder = await newDataFolder('disk');
  const bytes = await seed(folder.database, isQuick ? 200 : HOST_DAYS);
  await using farm = await startFarm({ kind: 'good', count: 2, delayMs: 80 });
  const [sold = '', watchedUrl = ''] = farm.urls;
  const instance = await startInstance({
    STORE_URL: `sqlite:${folder.database}`,
    SCAN_ALLOW_HOSTS: farm.urls.map((url) => new URL(url).host).join(','),
    TRUST_PROXY: '127.0.0.0/8',
  });
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });
  const send = (client: string, requests: readonly LoadRequest[]) =>
    Promise.all(requests.map((one) => ask(instance, agent, client, one)));
  try {
    await send(
      WARMING,
      routesOf(watchedUrl).map(({ request }) => request(0)),
    );
    for (let n = 0; n < 3; n += 1) await scanMs(instance, sold);
    const alone: number[] = [];
    const crowded: number[] = [];
    let sent = 0;
    // In turn, so that a busy machine is busy for both.
    for (let n = 0; n < scans; n += 1) {
      alone.push(await scanMs(instance, sold));
      const requests = shareOf(routesOf(watchedUrl), n, scans);
      const answers = send(CLIENT, requests);
      crowded.push(await scanMs(instance, sold));
      await answers;
      sent += requests.length;
    }
    const note = `${sent.toLocaleString('en-GB')} requests to ${routesOf(watchedUrl).length} routes meanwhile`;
    return [
      { what: 'a paid scan alone', value: median(alone), unit: 'ms', note: `median of ${scans}` },
      { what: 'beside one client at every limit', value: median(crowded), unit: 'ms', note },
      { what: 'the slowest beside it', value: Math.max(...crowded), unit: 'ms' },
      { what: 'beside, of alone', value: median(crowded) / median(alone), unit: 'x' },
      { what: 'a host on a day, for the statistics', value: bytes, unit: 'bytes' },
    ];
  } finally {
    agent.destroy();
    await instance.kill();
  }
};

export default beside;

/** Fills the store; answers the bytes of a host on a day. */
async function seed(database: string, hosts: number): Promise<number> {
  const sample = await sampleScan();
  const nowMs = Date.now();
  await seedDirectory(database, { hosts, sample: publishSample(sample), nowMs });
  const store = openSqlite(database);
  await publishScans(store, sample, { hosts: REPORTS, withResults: true });
  await store.close();
  const before = usedBytes(database);
  await seedHostDays(database, { hosts, report: sample.report, nowMs });
  return (usedBytes(database) - before) / hosts;
}

type Route = { readonly perMinute: number; readonly request: (n: number) => LoadRequest };

/** Every route that asks no money, with its limit; what costs most of each. */
function routesOf(seller: string): readonly Route[] {
  const { offers } = REVISIONS['0.3.0'];
  const operations = Object.entries(operationsOf(seller)).map(([id, request]): Route => {
    const offer = offers[id as OperationId]; // the keys of a closed record
    const free = offer?.kind === 'free' ? offer.requestsPerMinute : null;
    return { perMinute: free ?? UNPAID_ANSWERS_PER_MINUTE, request };
  });
  const documents = documentsOf().map(
    (request): Route => ({ perMinute: DOCUMENT_OFFER.requestsPerMinute ?? 0, request }),
  );
  return [...operations, ...documents];
}

/** The n-th of `parts` shares of what the routes allow a minute, routes mixed. */
function shareOf(routes: readonly Route[], n: number, parts: number): readonly LoadRequest[] {
  const requests = routes.flatMap(({ perMinute, request }) => {
    const [from, to] = [n, n + 1].map((at) => Math.floor((perMinute * at) / parts));
    const count = (to ?? 0) - (from ?? 0);
    return Array.from({ length: count }, (_, at) => ({ at, one: request((from ?? 0) + at) }));
  });
  return requests.toSorted((a, b) => a.at - b.at).map(({ one }) => one);
}

const get = (path: string): LoadRequest => ({ method: 'GET', path });
const post = (path: string, body: object): LoadRequest => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
});

function operationsOf(seller: string): Readonly<Record<OperationId, (n: number) => LoadRequest>> {
  const any = (n: number) => hostOf(n % REPORTS);
  const token = 'A'.repeat(43);
  const wish = { url: seller, listed: false };
  const secret = `whsec_${'A'.repeat(32)}`;
  const watch = { url: seller, webhook: 'https://hooks.example.com/' };
  return {
    status: (n) => get(`/v1/status?url=${any(n)}`),
    checks: () => get('/v1/checks'),
    directory: (n) => get(`/v1/directory?q=${'aeiou'[n % 5]}&sort=grade&pageSize=100&page=${n}`),
    featured: () => get('/v1/featured'),
    project: (n) => get(`/v1/project?host=${any(n)}`),
    // A client may have eight tokens of a host, and five failures an hour.
    verifyStart: (n) => post('/v1/verify/start', { url: n < 5 ? seller : any(n) }),
    verifyConfirm: (n) => post('/v1/verify/confirm', { url: n < 4 ? seller : any(n), token }),
    listing: () => post('/v1/listing', wish),
    watch: () => post('/v1/watch', watch),
    watchStatus: () => post('/v1/watch/status', { url: seller, secret }),
    watchTest: () => post('/v1/watch/test', { url: seller, secret }),
    watchStop: () => post('/v1/watch/stop', { url: seller, secret }),
    report: (n) => get(`/v1/report?url=${any(n)}`),
    attestation: (n) => get(`/v1/attestation?url=${any(n)}`),
    preflight: () => post('/v1/preflight', { url: seller }),
    // The page has the bucket of the route.
    statistics: (n) => get(`${n % 2 === 0 ? '/v1' : ''}/statistics?days=30`),
    feed: (n) => get(`/o/${any(n)}/feed.atom`),
    mcp: () => post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    scan: () => post('/v1/scan', { url: seller }),
    export: () => get('/v1/directory/export'),
    changes: () => get('/v1/changes?since=2026-01-01T00:00:00Z'),
  };
}

function documentsOf(): readonly ((n: number) => LoadRequest)[] {
  const any = (n: number) => hostOf(n % REPORTS);
  const paths = [
    '/checks',
    '/checks/P3',
    '/about-scanner',
    '/about-watch',
    '/openapi.json',
    '/llms.txt',
    '/llms-full.txt',
    '/.well-known/x402',
    '/.well-known/jwks.json',
    '/terms.txt',
  ];
  return [
    () => get('/'),
    (n) => get(`/o/${any(n)}`),
    (n) => get(`/badge/${any(n)}.svg`),
    ...paths.map((path) => () => get(path)),
  ];
}

/** Reads the whole answer. Throws at one that the limits or the service refuse. */
function ask(
  { url }: InstanceProcess,
  agent: Agent,
  client: string,
  { method, path, body = '' }: LoadRequest,
): Promise<void> {
  const type = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const headers = { 'x-forwarded-for': client, ...(body === '' ? {} : type) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url + path, { method, headers, agent }, (answer) => {
      const { statusCode = 0 } = answer;
      const isRefused = statusCode === 429 || statusCode >= 500;
      answer.on('error', reject).on('end', () => {
        if (isRefused) reject(new Error(`${method} ${path} answered ${statusCode}`));
        else resolve();
      });
      answer.resume();
    });
    sent.on('error', reject).end(body);
  });
}
