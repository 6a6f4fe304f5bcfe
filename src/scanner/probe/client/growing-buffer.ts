/** Buffers of this size or more get memory pages of their own. */
const OWN_PAGES_FROM_BYTES = 32_768;
const MIN_CAPACITY = 1_024;

/**
 * Copies the pieces of a body into one buffer, which doubles up to its cap. A stored piece would keep alive the
 * whole read that it was cut from, so an origin that sends single bytes could fill the memory.
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

  /** Returns false when the piece exceeds the cap; the bytes beyond the cap are dropped. */
  append(piece: Buffer): boolean {
    const takenBytes = Math.min(piece.length, this.#cap - this.#size);
    this.#reserve(this.#size + takenBytes);
    piece.copy(this.#bytes, this.#size, 0, takenBytes);
    this.#size += takenBytes;
    return takenBytes === piece.length;
  }

  /** Returns the bytes so far. The view shares its memory with this buffer. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const capacity = Math.min(this.#cap, Math.max(MIN_CAPACITY, size, 2 * this.#bytes.length));
    // `allocUnsafeSlow` avoids Node's pool, in which a small answer would keep a shared 8 KiB block alive.
    const grown =
      capacity < OWN_PAGES_FROM_BYTES
        ? Buffer.allocUnsafeSlow(capacity)
        : this.#growPages(capacity);
    if (grown.buffer !== this.#bytes.buffer) this.#bytes.copy(grown, 0, 0, this.#size);
    this.#bytes = grown;
  }

  /**
   * A resizable array buffer has memory pages of its own. It grows without a copy, and its pages return to the
   * system. Doubling an ordinary buffer would fragment the C heap, which then returns no memory.
   */
  #growPages(capacity: number): Buffer {
    this.#pages ??= new ArrayBuffer(0, { maxByteLength: this.#cap });
    this.#pages.resize(capacity);
    return Buffer.from(this.#pages, 0, capacity);
  }
}

/** Frees the memory of a buffer that is no longer read. The garbage collector would free it much later. */
export function releasePages({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.transfer(0);
}
