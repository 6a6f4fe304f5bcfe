/** A map of at most so many entries. */

/**
 * A map in which a new entry takes the place of the oldest once it is full. An entry is as old as its key:
 * setting it again renews the value alone.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxEntries: number;
  /**
   * The same one for all evictions: a map leaves a hole for each entry that goes, and a new iterator
   * walks over all of them to find the oldest.
   */
  #oldestKeys: MapIterator<Key> | null = null;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.#maxEntries && !this.#entries.has(key)) this.#evictOldest();
    this.#entries.set(key, value);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  #evictOldest(): void {
    this.#oldestKeys ??= this.#entries.keys();
    let oldest = this.#oldestKeys.next();
    if (oldest.done) {
      // Entries that came after an iterator had ended are unknown to it.
      this.#oldestKeys = this.#entries.keys();
      oldest = this.#oldestKeys.next();
    }
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
