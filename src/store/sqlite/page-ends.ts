/** Where pages of listed hosts ended: the next page begins there, and skips nothing. */
import type { SQLInputValue } from 'node:sqlite';

/** Places in an order of which one is remembered; walking past a host costs some 25 ns. */
const SPACING = 256;
const MAX_KEPT = 4_096;

/** Values of the columns of an order. */
export type OrderKey = Readonly<Record<string, SQLInputValue>>;

/** So many hosts of an order are at or before this one. */
export type PageEnd = { readonly offset: number; readonly key: OrderKey };

/**
 * Ends of pages that the one process of an embedded store has read. All of them go when any listed
 * host changes (`listed-rows.ts`), as one host more or less moves every place behind it.
 */
export class PageEnds {
  readonly #kept = new Map<string, PageEnd>();

  /** The nearest one known that is not behind `offset`; null: begin at the first host. */
  before(order: string, offset: number): PageEnd | null {
    const at = Math.floor(offset / SPACING);
    for (const n of [at, at - 1]) {
      const end = this.#kept.get(`${order} ${n}`);
      if (end !== undefined && end.offset <= offset) return end;
    }
    return null;
  }

  keep(order: string, end: PageEnd): void {
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(`${order} ${Math.floor(end.offset / SPACING)}`, end);
  }

  /** In the transaction that writes: nothing is read in between. */
  forget(): void {
    if (this.#kept.size > 0) this.#kept.clear();
  }
}
