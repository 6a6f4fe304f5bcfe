/** Chooses which origins the census asks, answers if it may ask a host now, and stores the operator's exclusions. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OriginPolicy } from '../../scanner/guard/origin.ts';
import { type Exclusions, readExcludeFile } from '../config/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { type KeyedHash, LISTED_FOR_DAYS } from './plan.ts';

export type Candidate = {
  readonly host: string;
  /** Registrable domain; the /24 or /48 of a literal address. */
  readonly domain: string;
  /** True if the census asks the origin already. */
  readonly isAsked?: boolean;
};

type ChoiceOptions = {
  readonly maxOrigins: number;
  /** Hosts and registrable domains that the operator has excluded. */
  readonly excluded: ReadonlySet<string>;
  /** Hosts whose owners opted out. They keep no place. */
  readonly optedOut?: ReadonlySet<string>;
  /** Keyed with a secret of the store, so that nobody can choose a name that gets a place. */
  readonly keyedHash: KeyedHash;
};

const ORIGINS_PER_DOMAIN = 20;
const HOSTS_PER_TURN = 1_000;

type Ranked = Candidate & {
  /** Number of hosts of the domain that go before this host. */
  readonly rank: number;
  readonly key: string;
};

/**
 * Chooses the origins that get a place. An origin that the census asks keeps its place while it is listed. New places
 * go to one host of each domain before a second host of any domain.
 */
export async function chooseOrigins(candidates: readonly Candidate[], options: ChoiceOptions) {
  const { maxOrigins, excluded, optedOut = new Set(), keyedHash } = options;
  const permitted = candidates.filter((candidate) => !isExcluded(candidate, excluded));
  const remaining = permitted.filter(({ host }) => !optedOut.has(host));
  const keyed: (Candidate & { readonly key: string })[] = [];
  for (const candidate of remaining) {
    keyed.push({ ...candidate, key: keyedHash(`place ${candidate.host}`) });
    // This process has to serve other requests.
    if (keyed.length % HOSTS_PER_TURN === 0) await nextTurn();
  }
  const byDomain = [...Map.groupBy(keyed, ({ domain }) => domain).values()];
  const capped = byDomain.flatMap((hosts): readonly Ranked[] =>
    hosts
      .sort((a, b) => byAsked(a, b) || byKey(a, b))
      .slice(0, ORIGINS_PER_DOMAIN)
      .map((candidate, rank) => ({ ...candidate, rank })),
  );
  await nextTurn();
  const chosen = capped.sort((a, b) => byAsked(a, b) || a.rank - b.rank || byKey(a, b));
  const hosts = new Set(chosen.slice(0, maxOrigins).map(({ host }) => host));
  return {
    hosts,
    /** Numbers of origins. `domain`: more than one domain may have. `max`: more than `CENSUS_MAX`. */
    leftOut: {
      excluded: candidates.length - permitted.length,
      domain: remaining.length - capped.length,
      max: capped.length - hosts.size,
    },
  };
}

function byAsked({ isAsked: a = false }: Candidate, { isAsked: b = false }: Candidate): number {
  return Number(b) - Number(a);
}

function byKey({ key: a }: { readonly key: string }, { key: b }: { readonly key: string }): number {
  return a < b ? -1 : 1;
}

export function isExcluded(
  { host, domain }: Pick<Candidate, 'host' | 'domain'>,
  excluded: ReadonlySet<string>,
): boolean {
  const hostname = host.replace(/:\d+$/, '');
  return excluded.has(host) || excluded.has(hostname) || excluded.has(domain);
}

type WishesOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  /** Path of the file of CENSUS_EXCLUDE; null if there is none. */
  readonly excludePath: string | null;
  readonly onError: (message: string, error: unknown) => void;
};

/** Tells whom owners and the operator let the census ask. */
export class Wishes {
  readonly #options: WishesOptions;
  #exclusions: Exclusions = { names: new Set(), faults: [] };
  /** The names that the store has already, joined by spaces. */
  #storedNames = '';

  constructor(options: WishesOptions) {
    this.#options = options;
  }

  /**
   * True if the host is chosen and listed, its owner has not opted out, and the operator has not excluded it. Stores
   * an exclusion that is new. Nothing is cached. Call it right before each request, each word and each publication.
   */
  async mayAsk(host: string): Promise<boolean> {
    const { store } = this.#options;
    const origin = await store.census.findSummary(host);
    if (origin === null || !origin.isChosen) return false;
    if (origin.lastDay < utcDay(store.now()) - LISTED_FOR_DAYS) return false;
    if (isExcluded(origin, (await this.readExclusions()).names)) {
      await store.exclusions.set(host, true);
      return false;
    }
    return (await store.listing.get(host)).settings.listed;
  }

  /** Reads the file of CENSUS_EXCLUDE. If it cannot be read, the exclusions of the last reading stay. */
  async readExclusions(): Promise<Exclusions> {
    const { excludePath, policy, onError } = this.#options;
    try {
      this.#exclusions = await readExcludeFile(excludePath, policy);
    } catch (error) {
      onError('census: the file of CENSUS_EXCLUDE was not read', error);
    }
    return this.#exclusions;
  }

  /** Marks the excluded hosts in the store, so that no reader sees them. Costs little if the file has not changed. */
  async storeExclusions(): Promise<void> {
    const { store } = this.#options;
    const { names } = await this.readExclusions();
    const text = [...names].sort().join(' ');
    if (text === this.#storedNames) return;
    for await (const origins of store.census.readSummaries()) {
      for (const origin of origins) {
        const isNowExcluded = isExcluded(origin, names);
        if (isNowExcluded !== (origin.excludedAtMs !== null))
          await store.exclusions.set(origin.host, isNowExcluded);
      }
    }
    this.#storedNames = text;
  }
}
