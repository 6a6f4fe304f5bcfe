/** From this size on, a buffer has memory pages of its own. */
const OWN_PAGES_FROM_BYTES = 32_768;
const MIN_CAPACITY_BYTES = 1_024;

/**
 * Copies pieces into one buffer that doubles up to its cap. The pieces are not kept, because each references
 * the whole read that it was cut from. An origin that sends single bytes would fill the memory with objects.
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
    const capacity = Math.min(
      this.#cap,
      Math.max(MIN_CAPACITY_BYTES, size, 2 * this.#bytes.length),
    );
    const grown = capacity < OWN_PAGES_FROM_BYTES ? allocateSmall(capacity) : this.#grow(capacity);
    if (grown.buffer !== this.#bytes.buffer) this.#bytes.copy(grown, 0, 0, this.#size);
    this.#bytes = grown;
  }

  /**
   * A resizable array buffer has memory pages of its own, so it grows without a copy and returns them to the
   * system. Doubling an ordinary buffer would fragment the heap of the C library, which then returns
   * nothing.
   */
  #grow(capacity: number): Buffer {
    this.#pages ??= new ArrayBuffer(0, { maxByteLength: this.#cap });
    this.#pages.resize(capacity);
    return Buffer.from(this.#pages, 0, capacity);
  }
}

/** Frees the memory of contents that nobody reads any more. The garbage collector would do it much later. */
export function releasePages({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.transfer(0);
}

/** Allocates outside Node's pool. In the pool, a small answer would keep a shared 8 KiB block alive. */
function allocateSmall(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}
