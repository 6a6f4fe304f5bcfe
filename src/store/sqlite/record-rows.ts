/** Rows of directory records in memory: look-ups ask for the same few hosts over and over. */
import type { PublishedScan } from '../contract/published-scan.ts';
import type { Row } from './row.ts';

/** Some 4 KiB each. */
const MAX_ROWS = 1_000;

/** A row, and its scan as it was parsed once. */
type KeptRecord = { readonly row: Row; readonly scan: PublishedScan };

/**
 * Rows of the one process that uses an embedded store. A row goes when anything that it is made of
 * is written, by publication, by a preference or by a proof (`listed-rows.ts`).
 */
export class RecordRows {
  readonly #rows = new Map<string, KeptRecord>();

  get(host: string): KeptRecord | undefined {
    return this.#rows.get(host);
  }

  /** The oldest goes first; hosts without a record are not kept, as strangers can name any number. */
  keep(host: string, record: KeptRecord): void {
    const oldest = this.#rows.size < MAX_ROWS ? undefined : this.#rows.keys().next().value;
    if (oldest !== undefined) this.#rows.delete(oldest);
    this.#rows.set(host, record);
  }

  /** In the transaction that writes: nothing is read in between. */
  forget(host: string): void {
    this.#rows.delete(host);
  }
}
