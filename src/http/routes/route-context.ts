import type { SigningKey } from '../../attestation/envelope.ts';
import type { Config } from '../../config/config.ts';
import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../engine/catalog/discover-checks.ts';
import type { Verification } from '../../ownership/verification.ts';
import type { ScanCoordinator } from '../../scans/scan-coordinator.ts';
import type { Store } from '../../store/store.ts';
import type { PreflightRunner } from '../../turns/run-preflight.ts';

/** Options of every route group. */
export type RouteContext = {
  readonly config: Config;
  readonly store: Store;
  readonly scanCoordinator: ScanCoordinator;
  readonly catalog: Catalog;
  /** The check versions that the catalog runs. */
  readonly checks: readonly DiscoveredCheck[];
  readonly verification: Verification;
  readonly preflight: PreflightRunner;
  /** The key that signs reports. */
  readonly signingKey: SigningKey;
};
