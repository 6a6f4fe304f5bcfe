/** What routes are given. */
import type { Config } from '../../config/config.ts';
import type { Verification } from '../../directory/verification.ts';
import type { Catalog } from '../../engine/catalog/catalog.ts';
import type { ScanHost } from '../../scan/scan-host.ts';
import type { Store } from '../../store/contract/store.ts';

/** What every route group is registered with. */
export type AppParts = {
  readonly config: Config;
  readonly store: Store;
  readonly scanHost: ScanHost;
  readonly catalog: Catalog;
  readonly verification: Verification;
};
