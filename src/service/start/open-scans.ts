/** Opens the parts that the service and the census command share: store, indexes, scans and the turns of origins. */
import type { Logger } from 'pino';
import { type Catalog, listCatalogs, loadCatalog } from '../../scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
} from '../../scanner/engine/catalog/discover-checks.ts';
import { SettingError } from '../../scanner/environment/read-sources.ts';
import { scannerUserAgent } from '../../scanner/probe/client/user-agent.ts';
import { BrokenChecks } from '../../scanner/scan/scanner.ts';
import { createAnswerReader } from '../../scanner/third-parties/answer-reader.ts';
import type { Config } from '../config/config.ts';
import { toSigningKey } from '../keys/open-signing-key.ts';
import { ScanCoordinator } from '../scans/scan-coordinator.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { createOriginTurns } from '../turns/origin-turns.ts';
import { openScanning, openStanding } from './open-scanning.ts';
import type { Scanning } from './scanning.ts';

/** Parts that stand in for what the settings would open. */
export type ScanParts = {
  /** Closed with the other parts. */
  readonly store?: Store | undefined;
  readonly scanning?: Partial<Scanning> | undefined;
  /** Replaces the timed pauses of turns, watches and the reader of tokens. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined;
};

type OpenScansOptions = ScanParts & {
  readonly log: Logger;
  /** Address of the account that sends our settlements; null if this process sends none. */
  readonly signer: string | null;
  readonly onPublished: (host: string) => void;
};

export type OpenScans = Awaited<ReturnType<typeof openScans>>;

/** Adds each opened part to `disposables`. Throws SettingError, CatalogError and StoreError. */
export async function openScans(
  config: Config,
  disposables: AsyncDisposableStack,
  { log, signer, onPublished, wait, ...given }: OpenScansOptions,
) {
  const onError = (message: string, err: unknown) => log.warn({ err }, message);
  const opening =
    given.store ?? openStore(config.storeUrl, { timeScale: config.timeScale, onError });
  const store = disposables.adopt(await opening, (adopted) => adopted.close());
  const checks = await discoverChecks();
  const catalog = await loadConfiguredCatalog(config, checks);
  await joinInstances(store, config, catalog, { log, signer });
  const answers = disposables.adopt(createAnswerReader(), (reader) => reader.close());
  const userAgent = scannerUserAgent(`${config.siteUrl}/about-scanner`);
  const standing = openStanding(config, userAgent, { store, answers });
  const policy = config.originPolicy;
  const censusAgent = scannerUserAgent(`${config.siteUrl}/about-census`);
  const agents = { userAgent, censusAgent };
  const opened = openScanning({ policy, ...agents, catalog, checks, standing, log });
  const scanning: Scanning = { ...opened, ...given.scanning };
  disposables.defer(() => scanning.scanner.close());
  const scanCoordinator = new ScanCoordinator({
    scanner: scanning.scanner,
    store,
    catalogFacts: { scoring: catalog.scoring },
    onPublished,
    onError(err) {
      if (!(err instanceof BrokenChecks)) log.error({ err }, 'scan failed');
      else log.fatal(`no scan of this process can be sold: ${err.message}`);
    },
  });
  disposables.defer(() => scanCoordinator.close());
  const countPaidScans = () => scanCoordinator.countPaidScans();
  const { openClient } = scanning;
  const turns = createOriginTurns({ now: () => store.now(), countPaidScans, openClient, wait });
  return { store, checks, catalog, answers, standing, scanning, scanCoordinator, turns, onError };
}

function joinInstances(
  store: Store,
  config: Config,
  catalog: Catalog,
  { log, signer }: Pick<OpenScansOptions, 'log' | 'signer'>,
): Promise<void> {
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
    signer: signer ?? undefined,
    // With different settings, the instances of one store would settle and grade by different rules.
    onEvicted: (reason) => {
      log.fatal(`Stopping: ${reason.message}`);
      process.kill(process.pid, 'SIGTERM');
    },
  });
}

/** Throws SettingError for an unknown version and CatalogError for an invalid catalog. */
async function loadConfiguredCatalog(
  { checksVersion }: Config,
  checks: readonly DiscoveredCheck[],
): Promise<Catalog> {
  const versions = await listCatalogs();
  if (!versions.includes(checksVersion)) {
    throw new SettingError('CHECKS_VERSION', checksVersion, `one of ${versions.join(', ')}`);
  }
  return loadCatalog(checksVersion, { checks });
}
