/** The standing of origins in the census's weekly scans, which ask indexes rarely, because paid scans come first. */
import type { Origin } from '../guard/origin.ts';
import type { Payee, Standing } from '../model/standing.ts';
import type { Lookup } from '../model/third-parties.ts';
import { LOOKUP_TIMEOUT_MS } from './ask.ts';
import { NO_RECIPIENT, toFacts, toListings } from './bazaar.ts';
import { createStanding } from './create-standing.ts';
import { type MerchantItem, paysTo } from './index-answers.ts';
import { type SnapshotCache, toLookup } from './response-cache.ts';
import { hasSettlement } from './settlements.ts';
import type { SourceOptions } from './source-options.ts';

type CensusStandingOptions = {
  /** The sources that paid scans ask. */
  readonly sources: SourceOptions;
  /** The cached answers of all scans. A fresh answer is used without a request. */
  readonly snapshots: SnapshotCache;
  /** Finds the host's Bazaar rows in the last complete import; null if no import of the last two days is complete. */
  readonly findBazaarRows: (host: string) => Promise<ImportedRows | null>;
  /** True while a paid scan runs. No request is sent then. */
  readonly isBusy: () => boolean;
};

export type ImportedRows = {
  readonly rows: readonly MerchantItem[];
  readonly takenAtMs: number;
  /** False if the Bazaar has more rows about the origin than the census keeps. */
  readonly isComplete: boolean;
};

const REQUEST_INTERVAL_MS = 5_000;
const TOO_SOON = 'the census makes one request in 5 s';
/** Not "Bazaar", because an import has only the origin's own rows, and not the other rows of its recipients. */
const INDEX_NAME = 'Bazaar import';
const NO_IMPORT = { state: 'failed', source: INDEX_NAME, detail: 'none within two days' } as const;
const X402SCAN_NOT_ASKED = { state: 'failed', source: 'x402scan', detail: TOO_SOON } as const;

/** This standing asks no node, because one lookup needs more requests than the rate allows. */
export function createCensusStanding(
  options: CensusStandingOptions,
): Standing & Required<Pick<Standing, 'listings'>> {
  const { sources, snapshots, findBazaarRows, isBusy } = options;
  const now = () => snapshots.now();
  const askedSources = { ...sources, bazaarUrl: null, rpcUrl: null, solanaRpcUrl: null };
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  /** If it returns null, it counts the request as sent. */
  const findReasonNotToAsk = () => {
    if (isBusy()) return 'paid scans come first';
    const sinceMs = now() - lastRequestMs;
    // A negative time means that the clock was set back.
    if (sinceMs >= 0 && sinceMs < REQUEST_INTERVAL_MS) return TOO_SOON;
    lastRequestMs = now();
    return null;
  };
  const standing = createStanding(askedSources, snapshots, LOOKUP_TIMEOUT_MS, findReasonNotToAsk);

  async function readImport<T>(
    origin: Origin,
    payees: readonly Payee[],
    read: (items: readonly MerchantItem[], isComplete: boolean) => T,
  ): Promise<Lookup<T>> {
    if (sources.bazaarUrl === null) return { state: 'off', why: 'switched-off' };
    if (payees.length === 0) return NO_RECIPIENT;
    // If the store fails, the scan goes on as without an import.
    const bazaarImport = await findBazaarRows(origin.host).catch(() => null);
    if (bazaarImport === null) return NO_IMPORT;
    const { rows, takenAtMs, isComplete } = bazaarImport;
    const ownRows = rows.filter(({ terms: { offers } }) =>
      payees.some(({ address }) => paysTo(offers, address)),
    );
    return toLookup(INDEX_NAME, { takenAtMs, data: read(ownRows, isComplete) }, now() - takenAtMs);
  }

  return {
    origin: standing.origin,
    async settlements(origin, payees) {
      const importedFacts = await readImport(origin, payees, (items) => toFacts(items));
      if (hasSettlement(importedFacts)) return importedFacts;
      const answer = await standing.settlements(origin, payees);
      if (answer.state === 'off') return importedFacts;
      // A window of 0 days: x402scan has no rows of the origin, and the request about its recipient came too soon.
      const isUnknown = answer.state === 'seen' && answer.data.windowDays === 0;
      if (!isUnknown || hasSettlement(answer)) return answer;
      return importedFacts.state === 'failed' ? importedFacts : X402SCAN_NOT_ASKED;
    },
    listings: (payees, origin) =>
      readImport(origin, payees, (items, isComplete) => toListings({ items, isComplete })),
  };
}
