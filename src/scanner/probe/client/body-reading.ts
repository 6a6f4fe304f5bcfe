/** Decides at two lengths if more of a body is read. */
import {
  beginsLikeJson,
  LARGE_BODY_BYTES,
  OTHER_BODY_LIMIT,
} from '../../parse/text/document-limits.ts';
import type { BodyRoom } from './text-budget.ts';

/** Shared by all bodies of one scan. `hasRead`: a body over 1 MiB was read, or is being read. */
export type LargeBodies = { hasRead: boolean };

/** `cut`: the body ends here, as at its cap. `no-room`: the texts of other scans leave no room for it. */
export type BodyDecision = 'read' | 'cut' | 'no-room';

/** The part of a body that has arrived. */
type ReceivedBody = {
  readonly status: number;
  /** Bytes so far. */
  readonly size: number;
  /** Length of the whole body; absent if it is not known. */
  readonly wholeSize?: number | undefined;
  /** Returns the decoded beginning of the body. */
  readonly readBeginning: () => Promise<string>;
};

type BodyReadingOptions = {
  /** True if only JSON with the status 200 is read beyond OTHER_BODY_LIMIT. */
  readonly expectsJson: boolean;
  readonly largeBodies: LargeBodies;
  /** Absent if nothing limits the texts of the process. */
  readonly room?: BodyRoom | undefined;
};

/**
 * The decisions about one body. A page at the path of a document is cut like any page. A scan reads only one body over
 * 1 MiB. If it read two, it would hold the first while the second waits for room, and scans would block each other.
 */
export class BodyReading {
  readonly expectsJson: boolean;
  readonly #largeBodies: LargeBodies;
  readonly #room: BodyRoom | undefined;
  #isLarge = false;
  #isBeginningRead = false;

  constructor({ expectsJson, largeBodies, room }: BodyReadingOptions) {
    this.expectsJson = expectsJson;
    this.#largeBodies = largeBodies;
    this.#room = room;
  }

  /** True if `decideToReadOn` must be called before more is read. */
  isDecisionDue(size: number): boolean {
    const isPerhapsPage = this.expectsJson && !this.#isBeginningRead && size > OTHER_BODY_LIMIT;
    return isPerhapsPage || (!this.#isLarge && size > LARGE_BODY_BYTES);
  }

  async decideToReadOn(received: ReceivedBody): Promise<BodyDecision> {
    const { status, size, wholeSize, readBeginning } = received;
    if (this.expectsJson && !this.#isBeginningRead) {
      if (status !== 200 || !beginsLikeJson(await readBeginning())) return 'cut';
      this.#isBeginningRead = true;
    }
    if (size <= LARGE_BODY_BYTES) return 'read';
    if (!this.#isLarge) {
      if (this.#largeBodies.hasRead) return 'cut';
      this.#largeBodies.hasRead = true;
      this.#isLarge = true;
    }
    return (await this.#room?.takeRoom(wholeSize)) === false ? 'no-room' : 'read';
  }
}

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
