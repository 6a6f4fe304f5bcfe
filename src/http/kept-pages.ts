/** Pages that are given again: those asked for of late as they are, more of them packed. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ownBytes } from '../memory/own-bytes.ts';
import { type Kept, KeptTexts, type Validity } from './kept-texts.ts';

/** Of all pages together, some 20 KiB each. */
const MAX_KEPT_BYTES = 8 * 1_048_576;
/** Some 2 KiB a page. Unpacking one costs a thirtieth of writing it. */
const MAX_PACKED_BYTES = 12 * 1_048_576;
const QUICKLY = { level: 1 } as const;

export class KeptPages {
  readonly #kept: KeptTexts<Buffer>;
  readonly #packed = new KeptTexts<Buffer>(MAX_PACKED_BYTES);
  /** The first page: what others share with it takes no room in them, and less time. */
  #dictionary: Buffer | undefined;

  constructor(maxKeptBytes = MAX_KEPT_BYTES) {
    this.#kept = new KeptTexts<Buffer>(maxKeptBytes, (name, page) => this.#pack(name, page));
  }

  /** Null where it was made of another version, or its time is over. */
  get(name: string, validity: Validity): Buffer | null {
    const page = this.#kept.get(name, validity);
    if (page !== null) return page;
    const packed = this.#packed.get(name, validity);
    if (packed === null || this.#dictionary === undefined) return null;
    return inflateRawSync(packed, { dictionary: this.#dictionary });
  }

  /** `version` and `nowMs` are those from before its parts were read. */
  keep(name: string, page: Buffer, validity: Validity & { readonly untilMs: number }): void {
    const own = ownBytes(page);
    this.#dictionary ??= own;
    this.#kept.keep(name, own, validity);
  }

  #pack(name: string, { text, version, fromMs: nowMs, untilMs }: Kept<Buffer>): void {
    const packed = deflateRawSync(text, { ...QUICKLY, dictionary: this.#dictionary });
    this.#packed.keep(name, ownBytes(packed), { version, nowMs, untilMs });
  }
}
