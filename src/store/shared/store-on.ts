import type { InstanceStore } from '../contract/instances.ts';
import type { LimitStore } from '../contract/limits.ts';
import type { Store, StoreInfo } from '../contract/store.ts';
import { answersOn } from './answers.ts';
import { changesOn } from './changes.ts';
import { confirmsOn } from './confirms.ts';
import type { StoreContext } from './context.ts';
import { directoryOn } from './directory.ts';
import { exportsOn } from './exports.ts';
import { historyOn } from './history.ts';
import { identifiersOn } from './identifiers.ts';
import { leasesOn } from './leases.ts';
import { ledgerOn } from './ledger.ts';
import { listingOn } from './listing.ts';
import { ownershipOn } from './ownership.ts';
import { publishOn } from './publish.ts';
import { purgeOn } from './purge.ts';
import { resultsOn } from './results.ts';
import { sharesOn } from './shares.ts';
import { signingKeysOn } from './signing-keys.ts';
import { slotsOn } from './slots.ts';
import { snapshotsOn } from './snapshots.ts';
import { statisticsOn } from './statistics.ts';

/** What an engine adds to its tables. */
export type EngineParts = {
  readonly info: Omit<StoreInfo, 'owner'>;
  readonly limits: LimitStore;
  readonly instances: InstanceStore;
  /** Removes counters and members that are over, and says how many. */
  purge(nowMs: number): Promise<number>;
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** A whole store, put together from the rules over tables and the parts of its engine. */
export function storeOn(context: StoreContext, engine: EngineParts): Store {
  const { owner, now } = context;
  const slots = slotsOn(context);
  return {
    info: { ...engine.info, owner },
    ledger: ledgerOn(context),
    answers: answersOn(context),
    identifiers: identifiersOn(context),
    results: resultsOn(context),
    directory: directoryOn(context),
    history: historyOn(context),
    exports: exportsOn(context),
    changes: changesOn(context),
    ownership: ownershipOn(slots, confirmsOn(context)),
    slots,
    listing: listingOn(context),
    leases: leasesOn(context),
    shares: sharesOn(slots),
    limits: engine.limits,
    snapshots: snapshotsOn(context),
    statistics: statisticsOn(context),
    instances: engine.instances,
    signingKeys: signingKeysOn(context),
    now,
    publish: (scan, tally) => publishOn(context, scan, tally),
    ping: () => engine.ping(),
    purge: (nowMs) => purgeOn(context, (atMs) => engine.purge(atMs), nowMs),
    close: () => engine.close(),
  };
}
