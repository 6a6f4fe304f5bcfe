/** Runs work of one key one after another, in the order in which it came. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled = result.then(ignore, ignore).then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    this.#last.set(key, settled);
    return result;
  }
}

function ignore(): void {}
