import PQueue from 'p-queue';
import type { Store, StoreInfo } from '../contract/store.ts';
import { answersOn } from './answers.ts';
import { changesOn } from './changes.ts';
import type { EngineContext } from './context.ts';
import { directoryOn } from './directory.ts';
import { exportsOn, historyOn } from './history.ts';
import { identifiersOn } from './identifiers.ts';
import { leasesOn } from './leases.ts';
import { ledgerOn } from './ledger.ts';
import { listingOn } from './listing.ts';
import { memoryLimits } from './memory-limits.ts';
import { ownershipOn } from './ownership.ts';
import { publishOn } from './publish.ts';
import { purgeOn } from './purge.ts';
import { resultsOn } from './results.ts';
import { signingKeysOn } from './signing-keys.ts';
import { slotsOn } from './slots.ts';
import { snapshotsOn } from './snapshots.ts';
import { statisticsOn } from './statistics.ts';
import { watchesOn } from './watches.ts';

/** The parts of a store that an engine provides beside its tables. */
export type EngineParts = Pick<Store, 'ping' | 'close'> & {
  readonly info: Omit<StoreInfo, 'owner'>;
  /** Left out where one process uses the store. */
  readonly sharing?: Pick<Store, 'limits' | 'instances'> & {
    /** Removes expired counters and silent instances; returns their number. */
    readonly purge: (nowMs: number) => Promise<number>;
  };
};

/** Builds a store from the shared rules over tables and the parts of its engine. */
export function storeOn(
  engineContext: EngineContext,
  { info, sharing, ...engine }: EngineParts,
): Store {
  const context = { ...engineContext, announcing: new PQueue({ concurrency: 1 }) };
  const { owner, isAlive, now } = context;
  const slots = slotsOn(context);
  return {
    ...engine,
    info: { ...info, owner },
    limits: sharing?.limits ?? memoryLimits(now),
    instances: sharing?.instances ?? { join: async () => {}, isAlive, leave: async () => {} },
    ledger: ledgerOn(context),
    answers: answersOn(context),
    identifiers: identifiersOn(context),
    results: resultsOn(context),
    directory: directoryOn(context),
    history: historyOn(context),
    exports: exportsOn(context),
    changes: changesOn(context),
    ownership: ownershipOn(context, slots),
    slots,
    listing: listingOn(context),
    leases: leasesOn(context),
    snapshots: snapshotsOn(context),
    statistics: statisticsOn(context),
    watches: watchesOn(context),
    signingKeys: signingKeysOn(context),
    now,
    publish: (scan, tally) => publishOn(context, scan, tally),
    purge: (nowMs) => purgeOn(context, sharing?.purge, nowMs),
  };
}
