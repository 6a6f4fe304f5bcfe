import type { RefreshingStanding } from '../../scanner/indexes/create-standing.ts';
import type { SnapshotCache } from '../../scanner/indexes/response-cache.ts';
import { createLookupLimiter } from '../../scanner/indexes/source-options.ts';
import type { JsonValue } from '../../scanner/model/json.ts';
import { type Scanner, ScannerFailure } from '../../scanner/scan/scanner.ts';
import type { AnswerReader } from '../../scanner/third-parties/answer-reader.ts';
import type { Config } from '../config/config.ts';
import type { Store } from '../store/store.ts';
import type { Scanning, ScanningOptions } from './scanning.ts';

/**
 * Loads the modules of a scan at the first call, so that an idle service starts fast and needs little memory. Each
 * member is written out, because a generic helper would need a type cast for each member.
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
  const load = () => (opened ??= open());
  return {
    scanner: {
      admit: async (origin) => (await load()).scanner.admit(origin),
      scan: async (...args) => (await load()).scanner.scan(...args),
      record: async (scan) => (await load()).scanner.record(scan),
      isSaturated: () => scanner?.isSaturated() ?? false,
      async close() {
        isClosed = true;
        await scanner?.close();
      },
    },
    openClient: async (...args) => (await load()).openClient(...args),
    judgeGivenChallenge: async (...args) => (await load()).judgeGivenChallenge(...args),
    askResources: async (...args) => (await load()).askResources(...args),
    askListed: async (...args) => (await load()).askListed(...args),
    askSeller: async (...args) => (await load()).askSeller(...args),
    askHost: async (...args) => (await load()).askHost(...args),
    openCensusScanner(standing) {
      let censusScanner: Pick<Scanner, 'scan'> | null = null;
      const loadCensusScanner = async () =>
        (censusScanner ??= (await load()).openCensusScanner(standing));
      return { scan: async (...args) => (await loadCensusScanner()).scan(...args) };
    },
  };
}

/** Loads the lookups at the first call. They ask the node that payments need, so `chainTurn` limits their calls. */
export function openStanding(
  { sources, payment }: Config,
  userAgent: string,
  { store, answers }: { readonly store: Store; readonly answers: AnswerReader },
): RefreshingStanding {
  let opened: Promise<RefreshingStanding> | null = null;
  const { rpcUrl, asset, network } = payment;

  async function open(): Promise<RefreshingStanding> {
    const { createStanding } = await import('../../scanner/indexes/create-standing.ts');
    const chainTurn = createLookupLimiter();
    const chain = { rpcUrl, asset: asset.address, network };
    const options = { ...sources, ...chain, userAgent, chainTurn, answers };
    return createStanding(options, createSnapshotCache(store));
  }
  const load = () => (opened ??= open());
  return {
    origin: async (origin) => (await load()).origin(origin),
    settlements: async (origin, payees) => (await load()).settlements(origin, payees),
    listings: async (...args) => (await load()).listings(...args),
    // `onChain` is absent if no node is set.
    onChain: async (offers) => (await (await load()).onChain?.(offers)) ?? [],
    refreshPartners: async () => (await load()).refreshPartners(),
  };
}

/** Caches the answers of third parties in the store, for all instances. */
export function createSnapshotCache(store: Store): SnapshotCache {
  return {
    get: (source, key) => store.snapshots.get(source, key),
    // Snapshots are parsed JSON, so a JSON copy loses nothing.
    put: (snapshot) => store.snapshots.put({ ...snapshot, data: snapshot.data as JsonValue }),
    now: () => store.now(),
  };
}
