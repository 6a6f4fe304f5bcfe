/** Pages that are given again: those asked for of late as they are, more of them packed. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { KeptTexts, type Validity } from './kept-texts.ts';

/** Of all pages together, some 20 KiB each. */
const MAX_KEPT_BYTES = 8 * 1_048_576;
/** Some 5 KiB a page. Unpacking one costs a tenth of writing it. */
const MAX_PACKED_BYTES = 12 * 1_048_576;
const QUICKLY = { level: 1 } as const;

export class KeptPages {
  readonly #kept: KeptTexts<Buffer>;
  readonly #packed = new KeptTexts<Buffer>(MAX_PACKED_BYTES);

  constructor(maxKeptBytes = MAX_KEPT_BYTES) {
    this.#kept = new KeptTexts<Buffer>(maxKeptBytes);
  }

  /** Null where it was made of another version, or its time is over. */
  get(name: string, validity: Validity): Buffer | null {
    const page = this.#kept.get(name, validity);
    if (page !== null) return page;
    const packed = this.#packed.get(name, validity);
    return packed === null ? null : inflateRawSync(packed);
  }

  /** `version` and `nowMs` are those from before its parts were read. */
  keep(name: string, page: Buffer, validity: Validity & { readonly untilMs: number }): void {
    this.#kept.keep(name, page, validity);
    this.#packed.keep(name, deflateRawSync(page, QUICKLY), validity);
  }
}
