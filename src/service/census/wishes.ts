/** Answers whether the census may ask a host now, and keeps the exclusions of the operator in the store. */

import type { OriginPolicy } from '../../scanner/guard/origin.ts';
import { type Exclusions, readExclusions } from '../config/census.ts';
import { utcDay } from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { isExcluded } from './choose-origins.ts';
import { LISTED_FOR_DAYS } from './plan.ts';

type WishesOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  /** Path of the file of CENSUS_EXCLUDE; null if there is none. */
  readonly excludePath: string | null;
  readonly onError: (message: string, error: unknown) => void;
};

const NOBODY: Exclusions = { names: new Set(), faults: [] };

export class Wishes {
  readonly #options: WishesOptions;
  #exclusions = NOBODY;
  /** The names that the store has already, joined by spaces. */
  #storedNames = '';

  constructor(options: WishesOptions) {
    this.#options = options;
  }

  /**
   * True if the host is chosen and listed, its owner has not opted out, and the operator has not excluded it. Nothing
   * is cached. Call it right before each request, each word and each publication.
   */
  async mayAsk(host: string): Promise<boolean> {
    const { store } = this.#options;
    const entry = await store.census.findEntry(host);
    if (entry === null || !entry.isChosen) return false;
    if (entry.lastDay < utcDay(store.now()) - LISTED_FOR_DAYS) return false;
    if (isExcluded(entry, (await this.readExclusions()).names)) {
      await store.exclusions.set(host, true);
      return false;
    }
    return (await store.listing.get(host)).settings.listed;
  }

  /** Reads the file of CENSUS_EXCLUDE. If it cannot be read, the exclusions of the last reading stay. */
  async readExclusions(): Promise<Exclusions> {
    const { excludePath, policy, onError } = this.#options;
    if (excludePath === null) return NOBODY;
    try {
      this.#exclusions = await readExclusions(excludePath, policy);
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
    for await (const entries of store.census.readEntries()) {
      for (const entry of entries) {
        const isNowExcluded = isExcluded(entry, names);
        if (isNowExcluded !== (entry.excludedAtMs !== null))
          await store.exclusions.set(entry.host, isNowExcluded);
      }
    }
    this.#storedNames = text;
  }
}
