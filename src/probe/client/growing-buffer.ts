/** Bytes that arrive in pieces, in one buffer that grows up to its cap. */

/** Buffers of this size have pages of their own. */
const OWN_PAGES_FROM_BYTES = 32_768;
const FIRST_BYTES = 1_024;

/**
 * Copies pieces into one buffer that doubles up to its cap. Pieces are never kept: each is an object
 * of its own, many times its size where an origin sends one byte at a time, and holds on to the
 * whole read that it was cut from.
 */
export class GrowingBuffer {
  readonly #cap: number;
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;
  /** Memory that grows in place, for long bodies. */
  #pages: ArrayBuffer | null = null;

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

  /** Bytes so far; the view shares its memory with this buffer. */
  contents(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const capacity = Math.min(this.#cap, Math.max(FIRST_BYTES, size, 2 * this.#bytes.length));
    const grown = capacity < OWN_PAGES_FROM_BYTES ? small(capacity) : this.#grow(capacity);
    if (grown.buffer !== this.#bytes.buffer) this.#bytes.copy(grown, 0, 0, this.#size);
    this.#bytes = grown;
  }

  /**
   * An array buffer that can be resized has pages of its own: it grows without a copy, and they go
   * back to the system with it. Each doubling of any other leaves a hole in the heap of the C
   * library, which after a megabyte or two gives nothing back.
   */
  #grow(capacity: number): Buffer {
    this.#pages ??= new ArrayBuffer(0, { maxByteLength: this.#cap });
    this.#pages.resize(capacity);
    return Buffer.from(this.#pages, 0, capacity);
  }
}

/** Allocates outside Node's pool: a small answer would hold on to 8 KiB of others' bytes. */
function small(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}
