import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createAnswerReader } from '../answers/answer-reader.ts';
import { openSigningKey, toSigningKey } from '../attestation/signing-keys.ts';
import type { Config } from '../config/config.ts';
import { SettingError } from '../config/environment.ts';
import { type Catalog, listCatalogs, loadCatalog } from '../engine/catalog/catalog.ts';
import { type DiscoveredCheck, discoverChecks } from '../engine/catalog/discover-checks.ts';
import type { RefreshingStanding } from '../indexes/create-standing.ts';
import { refreshListing } from '../indexes/refresh-listing.ts';
import { createOriginTurns } from '../limits/origin-turns.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
import { createScanCoordinator, type ScanCoordinator } from '../scan/scan-coordinator.ts';
import type { Scanner } from '../scan/scanner.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Watching } from '../watch/watching.ts';
import { createLogger } from './logger.ts';
import { watchReadiness } from './money-metrics.ts';
import { openScanning, openStanding } from './open-scanning.ts';
import { openWatching } from './open-watching.ts';
import type { OpenPayments } from './payments.ts';
import { PurgeTimer } from './purge-timer.ts';

export type Service = {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly catalog: Catalog;
  /** Waits `graceMs` for running work, then aborts it. May be called twice. */
  close(graceMs?: number): Promise<void>;
};

const SETTLE_GRACE_MS = 5_000;
const SWEEP_INTERVAL_MS = 100;
const LISTING_INTERVAL_MS = 60 * 60_000;
/** Delay of the first listing, so that it does not compete with the start. */
const FIRST_LISTING_MS = 5_000;

/** Throws SettingError, CatalogError and StoreError. */
export async function openService(config: Config): Promise<Service> {
  const opened = new AsyncDisposableStack();
  try {
    return await openParts(config, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Adds each part that it opens to `opened`, which closes them in the opposite order. */
async function openParts(config: Config, opened: AsyncDisposableStack): Promise<Service> {
  const log = createLogger(config);
  const onError = (message: string, err: unknown) => log.warn({ err }, message);
  const opening = openStore(config.storeUrl, { timeScale: config.timeScale, onError });
  const store = opened.adopt(await opening, (one) => one.close());

  const loading = [import('../http/app.ts'), import('./payments.ts')] as const;
  const loaded = await Promise.all([discoverChecks(), ...loading]);
  const [checks, { buildApp }, { openPayments }] = loaded;
  const catalog = await catalogFor(config, checks);
  await joinInstances(store, config, catalog, log);
  const signingKey = await openSigningKey(store.signingKeys, config.signingKey);
  const answers = opened.adopt(createAnswerReader(), (reader) => reader.close());
  const userAgent = scannerUserAgent(`${config.siteUrl}/about-scanner`);
  const standing = openStanding(config, userAgent, { store, answers });
  const { scanner, askResources, resolve, postWebhook, ...sellerCalls } = openScanning({
    policy: config.originPolicy,
    userAgent,
    catalog,
    checks,
    standing,
    log,
  });
  opened.defer(() => scanner.close());
  const published: { watching: Watching | null } = { watching: null };
  const onPublished = (host: string) => published.watching?.published(host);
  const scanCoordinator = openScanCoordinator(store, scanner, catalog, { log, onPublished });
  opened.defer(() => scanCoordinator.close());
  const payments = await openPayments({
    ...{ config, store, scanCoordinator, answers },
    onError: (message, err) => onError(`payments: ${message}`, err),
    onAlarm: (message, facts) => log.error(facts, message),
  });
  opened.defer(() => payments.stop());
  const runningScans = () => scanCoordinator.running();
  const turns = createOriginTurns({ now: () => store.now(), runningScans });
  const { fetchToken } = sellerCalls;
  const asking = { askResources, resolve, fetchToken, postWebhook, turns };
  const watchParts = { config, store, scanCoordinator, ...asking, onError };
  const { watching, metrics } = openWatching(watchParts);
  if (config.revision.offers.watch !== undefined) published.watching = watching;
  opened.defer(() => watching.stop());
  const app = await buildApp(config, {
    log,
    store,
    scanCoordinator,
    catalog,
    checks,
    ...sellerCalls,
    turns,
    payments,
    signingKey,
    registries: [metrics.registry],
  });
  opened.defer(() => app.close());
  await payments.start();
  published.watching?.start();

  const parts = { app, store, scanCoordinator, payments, watching };
  const stopTimers = startTimers({ ...parts, standing });
  const running = { ...parts, stopTimers, opened };
  let closing: Promise<void> | null = null;
  const close = (graceMs = 0) => (closing ??= closeInOrder(running, graceMs));
  return { app, store, catalog, close };
}

type RunningService = {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly scanCoordinator: ScanCoordinator;
  readonly payments: OpenPayments;
  readonly watching: Watching;
  stopTimers(): void;
  /** Disposes the opened parts in reverse order. */
  readonly opened: AsyncDisposableStack;
};

/** Lets calls end and settle within `graceMs`, then closes the parts. */
async function closeInOrder(service: RunningService, graceMs: number): Promise<void> {
  const { app, store, scanCoordinator, payments, watching, stopTimers, opened } = service;
  stopTimers();
  // `app.close` waits for requests, and those wait for scans: both are closed together.
  const answered = app.close();
  // Connections that were busy at `close` stay open afterwards; the sweep closes them once they are idle.
  const sweeping = setInterval(() => app.server.closeIdleConnections(), SWEEP_INTERVAL_MS);
  const unwatched = watching.stop(graceMs);
  const settled = scanCoordinator.close(graceMs).then(async () => {
    // Calls whose scan has just ended still have to settle and be answered.
    const late = pause(Math.min(graceMs, SETTLE_GRACE_MS), undefined, { ref: false });
    await Promise.race([answered, late]);
    await payments.stop();
  });
  await Promise.all([answered, settled, unwatched]).finally(() => clearInterval(sweeping));
  await store.instances.leave();
  await opened.disposeAsync();
}

function openScanCoordinator(
  store: Store,
  scanner: Scanner,
  { scoring }: Catalog,
  { log, onPublished }: { readonly log: Logger; readonly onPublished: (host: string) => void },
): ScanCoordinator {
  return createScanCoordinator({
    scanner,
    store,
    catalogFacts: { scoring },
    onPublished,
    onError: (err) => log.error({ err }, 'scan failed'),
  });
}

function joinInstances(store: Store, config: Config, catalog: Catalog, log: Logger): Promise<void> {
  const { revision, payment, baseUrl, signingKey } = config;
  return store.instances.join({
    settings: {
      revision: revision.name,
      network: payment.network,
      asset: payment.asset.address,
      payTo: payment.payTo,
      baseUrl,
      catalog: catalog.checksVersion,
      signingKey: signingKey === null ? 'kept in the store' : toSigningKey(signingKey).kid,
    },
    signer: payment.signer ?? undefined,
    // Instances with different settings on one store would settle and grade by different rules.
    onEvicted: (reason) => {
      log.fatal(`Stopping: ${reason.message}`);
      process.kill(process.pid, 'SIGTERM');
    },
  });
}

type TimerOptions = {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly standing: RefreshingStanding;
  readonly payments: OpenPayments;
};

function startTimers({ app, store, standing, payments }: TimerOptions): () => void {
  const { log } = app;
  const { metrics, unreadyReason } = payments;
  const purging = new PurgeTimer({
    store,
    onPurged(removed, atMs) {
      metrics.purged(atMs);
      log.info(removed, 'purged');
    },
    onError: (message, err) => log.error({ err }, message),
  });
  purging.start();
  const stopWatching = watchReadiness(unreadyReason, {
    closed: (message, facts) => log.error(facts, message),
    opened: (message) => log.info(message),
  });
  const onError = (message: string, err: unknown) => log.warn({ err }, message);
  const refresh = () => refreshListing({ store, standing, onError });
  const timers = [setTimeout(refresh, FIRST_LISTING_MS), setInterval(refresh, LISTING_INTERVAL_MS)];
  for (const timer of timers) timer.unref();
  return () => {
    purging.stop();
    stopWatching();
    timers.forEach(clearInterval);
  };
}

/** Throws SettingError for an unknown version and CatalogError for an invalid catalog. */
async function catalogFor(
  { checksVersion }: Config,
  checks: readonly DiscoveredCheck[],
): Promise<Catalog> {
  const versions = await listCatalogs();
  if (!versions.includes(checksVersion)) {
    throw new SettingError('CHECKS_VERSION', checksVersion, `one of ${versions.join(', ')}`);
  }
  return loadCatalog(checksVersion, { checks });
}
