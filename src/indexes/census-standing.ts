/** The standing of origins in the census's weekly scans, which leave the indexes to paid scans. */
import type { Origin } from '../guard/origin.ts';
import type { Payee, Standing } from '../model/standing.ts';
import type { Lookup } from '../model/third-parties.ts';
import { LOOKUP_TIMEOUT_MS } from './ask.ts';
import { NO_RECIPIENT, toFacts, toListings } from './bazaar.ts';
import { createStanding } from './create-standing.ts';
import { type MerchantItem, pays } from './index-answers.ts';
import type { EcosystemOptions } from './options.ts';
import { type SnapshotCache, toLookup } from './response-cache.ts';
import { sawSettlement } from './settlements.ts';

export type CensusStandingOptions = {
  /** Those of paid scans. */
  readonly sources: EcosystemOptions;
  /** Fresh answers of any scan are used without a request. */
  readonly snapshots: SnapshotCache;
  /** The Bazaar's rows of an origin by the last complete import; null if there was none within two days. */
  readonly bazaarRows: (host: string) => Promise<ImportedRows | null>;
  /** Nothing is asked while a paid scan runs. */
  readonly isBusy: () => boolean;
};

export type ImportedRows = { readonly rows: readonly MerchantItem[]; readonly takenAtMs: number };

const TURN_MS = 5_000;
const TOO_SOON = 'the census makes one request in 5 s';
/** Not "Bazaar", which may know the recipients by other hosts too. */
const SOURCE = 'Bazaar import';
const NO_IMPORT = { state: 'failed', source: SOURCE, detail: 'none within two days' } as const;
const NOT_ASKED = { state: 'failed', source: 'x402scan', detail: TOO_SOON } as const;

/** Nodes are not asked: a lookup of theirs is more requests than fit in its time. */
export function createCensusStanding(
  options: CensusStandingOptions,
): Standing & Required<Pick<Standing, 'listings'>> {
  const { sources, snapshots, bazaarRows, isBusy } = options;
  const now = () => snapshots.now();
  const others = { ...sources, bazaarUrl: null, rpcUrl: null, solanaRpcUrl: null };
  let lastMs = Number.NEGATIVE_INFINITY;
  const turn = () => {
    if (isBusy()) return 'paid scans come first';
    const agoMs = now() - lastMs;
    // Negative: the clock was set back.
    if (agoMs >= 0 && agoMs < TURN_MS) return TOO_SOON;
    lastMs = now();
    return null;
  };
  const asked = createStanding(others, snapshots, LOOKUP_TIMEOUT_MS, turn);

  async function imported<T>(
    origin: Origin,
    payees: readonly Payee[],
    read: (items: readonly MerchantItem[]) => T,
  ): Promise<Lookup<T>> {
    if (sources.bazaarUrl === null) return { state: 'off', why: 'switched-off' };
    if (payees.length === 0) return NO_RECIPIENT;
    const found = await bazaarRows(origin.host).catch(() => null);
    if (found === null) return NO_IMPORT;
    const { takenAtMs } = found;
    const rows = found.rows.filter(({ terms: { offers } }) =>
      payees.some(({ address }) => pays(offers, address)),
    );
    return toLookup(SOURCE, { takenAtMs, data: read(rows) }, now() - takenAtMs);
  }

  return {
    origin: asked.origin,
    async settlements(origin, payees) {
      const known = await imported(origin, payees, (items) => toFacts(null, items));
      if (sawSettlement(known)) return known;
      const found = await asked.settlements(origin, payees);
      if (found.state === 'off') return known;
      if (found.state === 'failed' || found.data.windowDays > 0 || sawSettlement(found))
        return found;
      // No row of the origin proves nothing before x402scan is asked about the recipient.
      return known.state === 'failed' ? known : NOT_ASKED;
    },
    listings: (payees, origin) =>
      imported(origin, payees, (items) => toListings({ items, isComplete: true })),
  };
}
