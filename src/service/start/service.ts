import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Catalog } from '../../scanner/engine/catalog/catalog.ts';
import type { RefreshingStanding } from '../../scanner/indexes/create-standing.ts';
import type { Config } from '../config/config.ts';
import type { AppOptions } from '../http/app.ts';
import { openSigningKey } from '../keys/open-signing-key.ts';
import type { ScanCoordinator } from '../scans/scan-coordinator.ts';
import type { Store } from '../store/store.ts';
import type { OriginTurns } from '../turns/origin-turns.ts';
import type { Watching, WatchingOptions } from '../watch/watching.ts';
import { PurgeTimer, refreshPartners } from './background-work.ts';
import { createLogger } from './logger.ts';
import { watchReadiness } from './money-metrics.ts';
import type { OpenPayments } from './open-payments.ts';
import { openScans, type ScanParts } from './open-scans.ts';
import { openWatching } from './open-watching.ts';

export type Service = {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly scanCoordinator: ScanCoordinator;
  readonly turns: OriginTurns;
  readonly watching: Watching;
  /** Waits `graceMs` for running work, then aborts it. May be called twice. */
  close(graceMs?: number): Promise<void>;
};

/** Parts that the caller opens in place of those that the settings name. */
export type GivenParts = ScanParts & {
  readonly log?: Logger | undefined;
  readonly limits?: AppOptions['limits'] | undefined;
  readonly onWatchingEvent?: WatchingOptions['onEvent'];
  /** If true, the service begins no look, purge or refresh by itself: its caller moves the time. */
  readonly hasNoTimers?: boolean | undefined;
};

const MAX_SETTLE_GRACE_MS = 5_000;
const IDLE_SWEEP_INTERVAL_MS = 100;
const REFRESH_INTERVAL_MS = 60 * 60_000;
/** Delay of the first refresh of the x402 partners, so that the refresh does not slow down the start. */
const FIRST_REFRESH_MS = 5_000;

/** Throws SettingError, CatalogError and StoreError. */
export async function openService(config: Config, given: GivenParts = {}): Promise<Service> {
  const disposables = new AsyncDisposableStack();
  try {
    return await openParts(config, disposables, given);
  } catch (error) {
    await disposables.disposeAsync();
    throw error;
  }
}

/** Adds each opened part to `disposables`, which closes the parts in reverse order. */
async function openParts(
  config: Config,
  disposables: AsyncDisposableStack,
  given: GivenParts,
): Promise<Service> {
  const { log = createLogger(config), limits, wait, onWatchingEvent, hasNoTimers = false } = given;
  // The watches and the census open after the scans, whose results they listen to.
  const publishedListeners: ((host: string) => void)[] = [];
  // These modules load while the store opens.
  const loading = [import('../http/app.ts'), import('./open-payments.ts')] as const;
  const scans = await openScans(config, disposables, {
    ...given,
    log,
    signer: config.payment.signer,
    onPublished: (host) => {
      for (const listener of publishedListeners) listener(host);
    },
  });
  const { store, catalog, scanning, scanCoordinator, turns, onError } = scans;
  const [{ buildApp }, { openPayments }] = await Promise.all(loading);
  const signingKey = await openSigningKey(store.signingKeys, config.signingKey);
  const payments = await openPayments({
    ...scans,
    config,
    onError: (message, err) => onError(`payments: ${message}`, err),
    onAlarm: (message, facts) => log.error(facts, message),
  });
  disposables.defer(() => payments.stop());
  const { askResources } = scanning;
  const watchParts = { ...scans, askResources, wait, onEvent: onWatchingEvent };
  const { watching, metrics } = openWatching(config, watchParts);
  disposables.defer(() => watching.stop());
  const isWatching = config.revision.offers.watch !== undefined;
  if (isWatching) publishedListeners.push((host) => watching.onPublished(host));
  // The census is off by default. Its modules are loaded only if it is on.
  const openedCensus =
    config.census && (await import('./open-census.ts')).openCensus(config, config.census, scans);
  disposables.defer(() => openedCensus?.stop());
  if (openedCensus !== null)
    publishedListeners.push((host) => openedCensus.census.onPublished(host));
  const app = await buildApp(config, {
    ...scans,
    ...scanning,
    log,
    limits,
    wait,
    payments,
    signingKey,
    registries: [metrics.registry, ...(openedCensus === null ? [] : [openedCensus.registry])],
  });
  disposables.defer(() => app.close());
  await payments.start();
  if (isWatching && !hasNoTimers) watching.start();
  if (!hasNoTimers) openedCensus?.start();

  const lookers = [watching, ...(openedCensus === null ? [] : [openedCensus])];
  const parts = { app, store, scanCoordinator, payments, lookers };
  const stopTimers = hasNoTimers ? () => {} : startTimers(parts, scans.standing);
  const runningService = { ...parts, stopTimers, disposables };
  let closing: Promise<void> | null = null;
  const close = (graceMs = 0) => (closing ??= closeInOrder(runningService, graceMs));
  return { app, store, catalog, scanCoordinator, turns, watching, close };
}

type RunningService = Pick<Service, 'app' | 'store' | 'scanCoordinator'> & {
  readonly payments: OpenPayments;
  /** The watches and the census, which look at origins without a caller. */
  readonly lookers: readonly Pick<Watching, 'stop'>[];
  stopTimers(): void;
  readonly disposables: AsyncDisposableStack;
};

/** Lets running calls end and settle within `graceMs`, then closes the parts, even if a step before failed. */
async function closeInOrder(service: RunningService, graceMs: number): Promise<void> {
  const { app, store, scanCoordinator, payments, lookers, stopTimers, disposables } = service;
  stopTimers();
  // `app.close` waits for requests, and requests wait for scans. So the app and the scans are closed at the same time.
  const appClosing = app.close();
  // `close` leaves busy connections open. The sweep closes them when they are idle.
  const sweeping = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS);
  const lookersStopping = Promise.all(lookers.map((looker) => looker.stop(graceMs)));
  const scansClosing = scanCoordinator.close(graceMs).then(async () => {
    // Calls whose scan has just ended still have to settle and be answered.
    const timeUp = pause(Math.min(graceMs, MAX_SETTLE_GRACE_MS), undefined, { ref: false });
    await Promise.race([appClosing, timeUp]);
    await payments.stop();
  });
  try {
    await Promise.all([appClosing, scansClosing, lookersStopping]);
    await store.instances.leave();
  } finally {
    clearInterval(sweeping);
    await disposables.disposeAsync();
  }
}

function startTimers(
  { app, store, payments }: Pick<RunningService, 'app' | 'store' | 'payments'>,
  standing: RefreshingStanding,
): () => void {
  const { log } = app;
  const { metrics, unreadyReason } = payments;
  const purgeTimer = new PurgeTimer({
    store,
    onPurged(removed, atMs) {
      metrics.setPurged(atMs);
      log.info(removed, 'purged');
    },
    onError: (message, err) => log.error({ err }, message),
  });
  purgeTimer.start();
  const stopReadinessLog = watchReadiness(unreadyReason, {
    unready: (message, facts) => log.error(facts, message),
    ready: (message) => log.info(message),
  });
  const onError = (message: string, err: unknown) => log.warn({ err }, message);
  const refresh = () => refreshPartners({ store, standing, onError });
  const timers = [setTimeout(refresh, FIRST_REFRESH_MS), setInterval(refresh, REFRESH_INTERVAL_MS)];
  for (const timer of timers) timer.unref();
  return () => {
    purgeTimer.stop();
    stopReadinessLog();
    timers.forEach(clearInterval);
  };
}
