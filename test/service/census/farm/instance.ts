/** One instance of the census over a store. Its clock is moved by the process that started it. */
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openClients } from '../../../../src/scanner/clients/open-clients.ts';
import { loadCatalog } from '../../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../../src/scanner/engine/judging-pool.ts';
import { type Connector, dial } from '../../../../src/scanner/guard/guarded-connect.ts';
import type { Resolver } from '../../../../src/scanner/guard/name-servers.ts';
import { OFFLINE_STANDING } from '../../../../src/scanner/model/standing.ts';
import {
  createProbeClient,
  type ProbeClientOptions,
} from '../../../../src/scanner/probe/client/client.ts';
import { scannerUserAgent } from '../../../../src/scanner/probe/client/user-agent.ts';
import { createScanner } from '../../../../src/scanner/scan/run-scan.ts';
import type { Scanner } from '../../../../src/scanner/scan/scanner.ts';
import { createAnswerReader } from '../../../../src/scanner/third-parties/answer-reader.ts';
import { createAskListed } from '../../../../src/service/census/ask-listed.ts';
import { Census } from '../../../../src/service/census/census.ts';
import { Wishes } from '../../../../src/service/census/choose-origins.ts';
import { CensusImports } from '../../../../src/service/census/import.ts';
import { ScanCoordinator } from '../../../../src/service/scans/scan-coordinator.ts';
import { openStore } from '../../../../src/service/store/open-store.ts';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import { createOriginTurns } from '../../../../src/service/turns/origin-turns.ts';
import { NEWER_VERSION } from '../../../scanner/scan/engine-under-test.ts';
import { createFakeScanner } from '../../../scanner/scan/fake-scanner.ts';
import { SECRET } from '../census-rig.ts';
import { numberOf } from './kinds.ts';
import type { FromInstance, InstanceOptions, ToInstance } from './messages.ts';
import { createPlainScan } from './plain-scan.ts';
import { sellersOf } from './world.ts';

const SITE_URL = 'https://scanner.example';
const NOBODY_LISTENS = 1;
/** Time on the wall that a wait takes, so that sockets and threads get on meanwhile. */
const WAIT_MS = 2;
const SETTINGS = {
  ...{ revision: '0.3.0', network: '', asset: '', payTo: '', baseUrl: SITE_URL },
  ...{ catalog: NEWER_VERSION, signingKey: '' },
};

// The parent process wrote these options.
const options = JSON.parse(process.argv[2] ?? '{}') as InstanceOptions;
const clock = { nowMs: 0, isOutage: false };
const now = () => clock.nowMs;
const send = (message: FromInstance) => void process.send?.(message);
const waiting: (() => void)[] = [];

async function waitOnClock(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  await pause(WAIT_MS);
  send({ kind: 'wait', ms });
  await promise;
}

const sellers = new Map(sellersOf(options.size).map((seller) => [seller.name, seller]));
/** In an outage half of the names have no answer, and nobody can be connected to. */
const resolver: Resolver = {
  resolve4: () => Promise.reject(new Error('only exceptions are resolved')),
  resolve6: () => Promise.reject(new Error('only exceptions are resolved')),
  async lookup(name) {
    const seller = sellers.get(name);
    const isLost = clock.isOutage && numberOf(`name ${name}`) < 500;
    if (seller === undefined || isLost) throw Object.assign(new Error(name), { code: 'EAI_AGAIN' });
    return [{ address: seller.address, family: 4 }];
  },
};
const connect: Connector = (target) =>
  dial({ ...target, port: clock.isOutage ? NOBODY_LISTENS : options.port });
const policy = {
  allowedPorts: [443],
  allowHosts: new Set([...sellers.keys()].map((name) => `${name}:80`)),
};

const userAgent = scannerUserAgent(`${SITE_URL}/about-census`);
const troubles: string[] = [];
let wordCount = 0;
const onError = (message: string, error: unknown) =>
  void troubles.push(`${message}: ${error instanceof Error ? error.message : error}`);
const store = await openStore(options.storeUrl, { clock: now });
const checks = await discoverChecks();
const catalog = await loadCatalog(NEWER_VERSION, { checks });
const pool = createPool();
const clients = openClients();
const engine = { catalog, checks, pool, clients };
const createClient = (options: ProbeClientOptions) =>
  createProbeClient({ ...options, resolver, connect });
const outbound = { policy, userAgent, createClient };
const real = createScanner({ ...engine, ...outbound, standing: OFFLINE_STANDING });
const fake = createFakeScanner(NEWER_VERSION);
const plain = createPlainScan({
  ...{ fake, policy, userAgent, resolver, connect },
  findSold(host) {
    const { kind, method = 'GET', paths = [] } = sellers.get(host) ?? {};
    const isDeclared = kind?.isDeclared === true;
    return isDeclared ? paths.map((path) => ({ method, path })) : [];
  },
});
const scanner: Pick<Scanner, 'scan'> = {
  scan(origin, wanted) {
    appendFileSync(options.scansFile, `${origin.hostname} ${utcDay(now())}\n`);
    const isOdd = sellers.get(origin.hostname)?.kind.isOdd === true;
    const isDeclared = sellers.get(origin.hostname)?.kind.isDeclared === true;
    const isReal =
      !isDeclared && (isOdd || numberOf(`scan ${origin.hostname}`) < options.realScans);
    return isReal ? real.scan(origin, wanted) : plain(origin, wanted);
  },
};
const scanCoordinator = new ScanCoordinator({ scanner: fake, store, catalogFacts: {} });
await store.census.readSecret(SECRET);
const wishes = new Wishes({ store, policy, excludePath: null, onError });
const census = new Census({
  ...{ store, policy, scanCoordinator, scanner, onError, wishes, post: 'declared' },
  isNetworkUp: async () => !clock.isOutage,
  onWord: () => {
    wordCount += 1;
  },
  askListed: createAskListed(engine),
  turns: createOriginTurns({
    now,
    countPaidScans: () => scanCoordinator.countPaidScans(),
    wait: waitOnClock,
    openClient: async (_kind, limits) => createClient({ policy, userAgent, limits }),
  }),
});
const imports = new CensusImports({
  ...{ store, policy, userAgent, onError, wishes, siteUrl: SITE_URL, wait: waitOnClock },
  answers: createAnswerReader(),
  config: {
    indexes: [
      { name: 'bazaar', url: options.indexUrl },
      { name: 'x402scan', url: options.indexUrl },
    ],
    filePath: options.listFile,
    excludePath: null,
    maxOrigins: 10_000,
    post: 'declared',
    contactEmail: 'census@scanner.example',
  },
});

const answers: {
  readonly [K in ToInstance['kind']]: (message: Extract<ToInstance, { kind: K }>) => Promise<void>;
} = {
  async at({ nowMs, isOutage }) {
    Object.assign(clock, { nowMs, isOutage });
    // A membership is kept alive by this machine's clock, which the moved one leaves behind.
    if (store.info.kind === 'mongodb') {
      await store.instances.leave();
      await store.instances.join({ settings: SETTINGS });
    }
    send({ kind: 'done', dueMs: null });
  },
  async tick() {
    await imports.runDue();
    await census.rounds.tick();
    await census.rounds.idle();
    send({ kind: 'done', dueMs: await store.census.findFirstDueMs() });
  },
  async moved({ nowMs }) {
    clock.nowMs = Math.max(clock.nowMs, nowMs);
    waiting.shift()?.();
  },
  async leave({ host }) {
    await store.listing.set(host, { listed: false });
    send({ kind: 'left', host });
  },
  async words({ days }) {
    send({ kind: 'words', ...(await readWords(days)), wordCount, troubles });
  },
};

async function readWords(days: readonly number[]) {
  const hosts: string[] = [];
  for await (const rows of store.census.readSummaries())
    hosts.push(...rows.map(({ host }) => host));
  const words = [];
  const records: string[] = [];
  for (const host of hosts) {
    if ((await store.directory.get(host)) !== null) records.push(host);
    for (const day of days) {
      const word = await store.census.findWord(host, day);
      if (word !== null) words.push({ host, day, word });
    }
  }
  return { hosts, words, records };
}

process.on('message', (message: ToInstance) => {
  // Each kind has the answer that takes it.
  const answer = answers[message.kind] as (message: ToInstance) => Promise<void>;
  answer(message).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.on('disconnect', () => process.exit());
send({ kind: 'done', dueMs: null });
