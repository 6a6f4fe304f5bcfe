/** Buffers of this size have pages of their own. */
const OWN_PAGES_FROM_BYTES = 32_768;
const FIRST_BYTES = 1_024;

/**
 * Copies pieces into one buffer that doubles up to its cap. Pieces are not kept: each references the whole
 * read that it was cut from, and an origin that sends single bytes would fill the memory with objects.
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

/** Returns the memory of contents that are read no more; the garbage collector would come much later. */
export function releasePages({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.transfer(0);
}

/** Allocates outside Node's pool, or a small answer would keep a shared 8 KiB block alive. */
function small(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}
