/** Versions of what lists are made of, in memory. */
import type { DirectoryVersions } from '../contract/directory.ts';

/** Versions as the one process that uses an embedded store has read them, until it writes either. */
export class KeptVersions {
  #known: DirectoryVersions | null = null;

  get known(): DirectoryVersions | null {
    return this.#known;
  }

  keep(versions: DirectoryVersions): DirectoryVersions {
    this.#known = versions;
    return versions;
  }

  /** In the transaction that writes: nothing is read in between. */
  forget(): void {
    this.#known = null;
  }
}
