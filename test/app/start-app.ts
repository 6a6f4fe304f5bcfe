import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { buildApp } from '../../src/app.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import type { FetchChallenge, ServedChallenge } from '../../src/directory/challenge-fetch.ts';
import { openPayments } from '../../src/open-payments.ts';
import { parseOrigin } from '../../src/origin/origin.ts';
import type { RevisionName } from '../../src/revision.ts';
import { createScanHost, type ScanHost } from '../../src/scan/scan-host.ts';
import type { Environment } from '../../src/settings.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { type CannedScan, createFakeScanner, type FakeScanner } from '../scan/fake-scanner.ts';
import { readCatalog } from './test-catalog.ts';

export type Answer = LightMyRequestResponse;

export type TestApp = AsyncDisposable & {
  readonly app: FastifyInstance;
  readonly config: Config;
  readonly store: Store;
  readonly scanner: FakeScanner;
  readonly scanHost: ScanHost;
  /** What hosts serve at the challenge path; nothing is answered where none is set. */
  readonly challenges: Map<string, ServedChallenge>;
  /** What payments met that no caller did. */
  readonly troubles: readonly { readonly message: string; readonly error: unknown }[];
  now(): number;
  /** Moves the time of the store. */
  advance(ms: number): void;
  get(url: string, headers?: Record<string, string>): Promise<Answer>;
  post(url: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A scan, by host or URL, that somebody paid for. */
  publish(url: string, canned?: CannedScan): Promise<void>;
};

export type TestAppOptions = {
  readonly revision?: RevisionName;
  readonly environment?: Environment;
  readonly fetchChallenge?: FetchChallenge;
};

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** A whole minute, so that rate windows begin with the test. */
const BEGIN_MS = Date.parse('2026-09-01T12:00:00Z');

/** The service on an empty store in memory, with a clock of its own and a scanner that is told what to find. */
export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { revision = '0.3.0', environment = {} } = options;
  let nowMs = BEGIN_MS;
  const config = loadConfig({
    API_REVISION: revision,
    BASE_URL: 'https://api.scanner.example',
    SITE_URL: 'https://scanner.example',
    LOG_LEVEL: 'silent',
    ...environment,
  });
  const log = pino({ level: config.logLevel });
  const catalog = readCatalog(config.checksVersion);
  const store = openSqlite(MEMORY, { clock: () => nowMs });
  const scanner = createFakeScanner(config.checksVersion);
  const { scanTimeoutMs } = config;
  const scanHost = createScanHost({ scanner, store, scanTimeoutMs, catalogFacts: {} });
  const challenges = new Map<string, ServedChallenge>();
  const absent: ServedChallenge = {
    kind: 'unusable',
    reason: 'wrong_status',
    detail: 'status 404',
  };
  const troubles: { message: string; error: unknown }[] = [];
  const fetchChallenge: FetchChallenge =
    options.fetchChallenge ?? (async ({ host }) => challenges.get(host) ?? absent);
  const onTrouble = (message: string, error: unknown) => troubles.push({ message, error });
  const payments = await openPayments({ config, store, scanHost, onTrouble, environment });
  const app = await buildApp(config, { log, store, scanHost, catalog, fetchChallenge, payments });
  await payments.start();

  return {
    app,
    config,
    store,
    scanner,
    scanHost,
    challenges,
    troubles,
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    get: (url, headers = {}) => app.inject({ url, headers }),
    post: (url, body, headers = {}) =>
      app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    publish: async (url, canned = {}) => {
      const origin = parseOrigin(url, config.originPolicy);
      scanner.will(origin.host, canned);
      const { scanId } = await scanHost.run(origin);
      await scanHost.publish(scanId);
    },
    [Symbol.asyncDispose]: async () => {
      await app.close();
      await payments.stop();
      await scanHost.close();
      await store.close();
    },
  };
}
