/** What routes are given. */
import type { Config } from '../../config/config.ts';
import type { PreflightDesk } from '../../directory/preflight-desk.ts';
import type { Verification } from '../../directory/verification.ts';
import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../engine/catalog/discover-checks.ts';
import type { ScanCoordinator } from '../../scan/scan-coordinator.ts';
import type { Store } from '../../store/contract/store.ts';

/** What every route group is registered with. */
export type RouteContext = {
  readonly config: Config;
  readonly store: Store;
  readonly scanCoordinator: ScanCoordinator;
  readonly catalog: Catalog;
  /** What the catalog runs, and says of itself. */
  readonly checks: readonly DiscoveredCheck[];
  readonly verification: Verification;
  readonly preflight: PreflightDesk;
};
