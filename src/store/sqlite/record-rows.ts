/** What was read of directory records, in memory: look-ups ask for the same few hosts over and over. */
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { HostGrade } from '../contract/directory.ts';
import type { PublishedScan } from '../contract/published-scan.ts';
import type { Row } from './row.ts';

/** Some 4 KiB each. */
const MAX_ROWS = 1_000;
/** Some 250 bytes each. */
const MAX_GRADES = 10_000;

/** A row, and its scan as it was parsed once. */
type KeptRecord = { readonly row: Row; readonly scan: PublishedScan };

/**
 * Rows and grades of the one process that uses an embedded store. Both go when anything that they are made of
 * is written, by publication, by a preference or by a proof (`listed-rows.ts`). Hosts without a
 * record are not kept, as strangers can name any number.
 */
export class RecordRows {
  readonly #rows = new BoundedMap<string, KeptRecord>(MAX_ROWS);
  readonly #grades = new BoundedMap<string, HostGrade>(MAX_GRADES);

  get(host: string): KeptRecord | undefined {
    return this.#rows.get(host);
  }

  keep(host: string, record: KeptRecord): void {
    this.#rows.set(host, record);
  }

  grade(host: string): HostGrade | undefined {
    return this.#grades.get(host);
  }

  keepGrade(host: string, grade: HostGrade): void {
    this.#grades.set(host, grade);
  }

  /** In the transaction that writes: nothing is read in between. */
  forget(host: string): void {
    this.#rows.delete(host);
    this.#grades.delete(host);
  }
}
