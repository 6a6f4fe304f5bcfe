import type { AnswerReader } from '../answers/answer-reader.ts';
import type { Config } from '../config/config.ts';
import type { RefreshingStanding } from '../indexes/create-standing.ts';
import { createLookupRate } from '../indexes/options.ts';
import type { SnapshotCache } from '../indexes/response-cache.ts';
import type { JsonValue } from '../model/json.ts';
import { type Scanner, ScannerFailure } from '../scan/scanner.ts';
import type { Store } from '../store/store.ts';
import type { CensusScanning, Scanning, ScanningOptions } from './scanning.ts';

/**
 * Loads the fifty modules of a scan with the first one, so that an idle service starts fast and stays small. Each member is
 * written out: a helper over their names would need a cast for each.
 */
export function openScanning(options: ScanningOptions): Scanning {
  let opened: Promise<Scanning> | null = null;
  let scanner: Scanner | null = null;
  let isClosed = false;

  async function open(): Promise<Scanning> {
    const { createScanning } = await import('./scanning.ts');
    // A thread that starts after `close` would never end.
    if (isClosed) throw new ScannerFailure('The service stops.');
    const scanning = createScanning(options);
    scanner = scanning.scanner;
    return scanning;
  }
  const scanning = () => {
    opened ??= open();
    return opened;
  };
  return {
    scanner: {
      checksVersion: options.catalog.checksVersion,
      admit: async (origin) => (await scanning()).scanner.admit(origin),
      scan: async (...scan) => (await scanning()).scanner.scan(...scan),
      record: async (scan) => (await scanning()).scanner.record(scan),
      isSaturated: () => scanner?.isSaturated?.() === true,
      fault: () => scanner?.fault?.() ?? null,
      async close() {
        isClosed = true;
        await scanner?.close();
      },
    },
    fetchToken: async (...asked) => (await scanning()).fetchToken(...asked),
    judgeInHand: async (...inHand) => (await scanning()).judgeInHand(...inHand),
    askResources: async (...asked) => (await scanning()).askResources(...asked),
    resolve: async (origin) => (await scanning()).resolve(origin),
    postWebhook: async (...posted) => (await scanning()).postWebhook(...posted),
    askSeller: async (...asked) => (await scanning()).askSeller(...asked),
    askHost: async (...asked) => (await scanning()).askHost(...asked),
    openCensus(census) {
      let parts: CensusScanning | null = null;
      const open = async () => {
        parts ??= (await scanning()).openCensus(census);
        return parts;
      };
      return {
        askListed: async (...asked) => (await open()).askListed(...asked),
        scanner: { scan: async (...scan) => (await open()).scanner.scan(...scan) },
      };
    },
  };
}

/** Loaded with the first lookup. D3 and D4 share the node with payments, so they have a small rate of their own. */
export function openStanding(
  { ecosystem, payment }: Config,
  userAgent: string,
  { store, answers }: { readonly store: Store; readonly answers: AnswerReader },
): RefreshingStanding {
  let opened: Promise<RefreshingStanding> | null = null;
  const { rpcUrl, asset, network } = payment;

  async function open(): Promise<RefreshingStanding> {
    const { createStanding } = await import('../indexes/create-standing.ts');
    const chainTurn = createLookupRate();
    const place = { rpcUrl, asset: asset.address, network };
    const options = { ...ecosystem, ...place, userAgent, chainTurn, answers };
    return createStanding(options, snapshotCacheOn(store));
  }
  const standing = () => {
    opened ??= open();
    return opened;
  };
  return {
    origin: async (origin) => (await standing()).origin(origin),
    settlements: async (origin, payees) => (await standing()).settlements(origin, payees),
    listings: async (...asked) => (await standing()).listings(...asked),
    onChain: async (offers) => (await (await standing()).onChain?.(offers)) ?? [],
    refreshListing: async () => (await standing()).refreshListing(),
  };
}

/** Cache of third parties' answers in the store, shared by all instances. */
export function snapshotCacheOn(store: Store): SnapshotCache {
  return {
    get: (source, key) => store.snapshots.get(source, key),
    put: ({ source, key, takenAtMs, data }) =>
      // Snapshots are parsed JSON, so a JSON copy loses nothing.
      store.snapshots.put({ source, key, takenAtMs, data: data as JsonValue }),
    now: () => store.now(),
  };
}
