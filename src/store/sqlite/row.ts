/** A row whose columns are checked as they are taken. */
import type { SQLOutputValue } from 'node:sqlite';
import { StoreError } from '../contract/store-error.ts';

/** A row that was read; every column is checked as it is taken. */
export class Row {
  readonly #columns: Readonly<Record<string, SQLOutputValue>>;

  constructor(columns: Readonly<Record<string, SQLOutputValue>>) {
    this.#columns = columns;
  }

  text(name: string): string {
    const value = this.#columns[name];
    return typeof value === 'string' ? value : this.#wrong(name, 'text');
  }

  textOrNull(name: string): string | null {
    return this.#columns[name] === null ? null : this.text(name);
  }

  integer(name: string): number {
    const value = this.#columns[name];
    return typeof value === 'number' ? value : this.#wrong(name, 'an integer');
  }

  integerOrNull(name: string): number | null {
    return this.#columns[name] === null ? null : this.integer(name);
  }

  /** As it came, to be given back to a statement. */
  value(name: string): SQLOutputValue {
    return this.#columns[name] ?? null;
  }

  bytes(name: string): Uint8Array {
    const value = this.#columns[name];
    return value instanceof Uint8Array ? value : this.#wrong(name, 'bytes');
  }

  #wrong(name: string, wanted: string): never {
    const message = `column ${name} holds no ${wanted}; restore the store from a backup`;
    throw new StoreError('corrupt', message);
  }
}
