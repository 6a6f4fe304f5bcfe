/**
 * Bytes that arrive in pieces, copied into one buffer that doubles up to its cap. Pieces are never
 * kept: each is an object of its own, many times its size where an origin sends one byte at a time,
 * and holds on to the whole read that it was cut from.
 */
export class GrowingBuffer {
  readonly #cap: number;
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;

  constructor(cap: number) {
    this.#cap = cap;
  }

  /** False where the piece did not fit whole: what is over the cap is dropped. */
  append(piece: Buffer): boolean {
    const taken = Math.min(piece.length, this.#cap - this.#size);
    this.#reserve(this.#size + taken);
    piece.copy(this.#bytes, this.#size, 0, taken);
    this.#size += taken;
    return taken === piece.length;
  }

  /** What has arrived so far; shares its memory with this buffer. */
  contents(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const capacity = Math.min(this.#cap, Math.max(FIRST_BYTES, size, 2 * this.#bytes.length));
    // Of its own, not from Node's pool: a small answer would hold on to 8 KiB of others' bytes.
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(grown, 0, 0, this.#size);
    this.#bytes = grown;
  }
}

const FIRST_BYTES = 1_024;
