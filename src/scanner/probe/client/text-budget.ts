/** Limits the decoded text of all scans of the process. */
import { isAscii } from 'node:buffer';
import type { HttpData, Observation } from '../../model/observation.ts';
import { findSharedBytes, MAX_BYTES_PER_CHAR } from '../../parse/json/transfer.ts';

const MIB = 1_048_576;

/** A failure of the scanner, not of the origin: the texts of other scans left no room. The scan ends, uncharged. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';

  constructor() {
    super('this instance holds the documents of too many scans');
  }
}

/** The part of the text budget that one scan uses. */
type TextShare = {
  /** Counts characters that the scan keeps from now on. */
  addCharacters(characters: number): void;
  /** Returns the room for one body of up to `maxBytes` bytes. Nothing is reserved yet. */
  openRoom(maxBytes: number): BodyRoom;
  /** True if the scan was ended, because it held more text than any other. */
  readonly isEnded: boolean;
  /** Gives back all characters, because the scan keeps no text any more. */
  release(): void;
};

/** Reserves the budget for one body. A body over 1 MiB needs room for the longest body, and waits for it in turn. */
export type BodyRoom = {
  /** Takes the room once, for at most `maxBytes` if they are known. Resolves to false if there is none in time. */
  takeRoom(maxBytes?: number): Promise<boolean>;
  /** True while the body waits for room, and if it got none. */
  readonly lacksRoom: boolean;
  /** Gives the room back. Call it after `addCharacters`, so that the text is counted at all times. */
  close(): void;
};

const DEFAULTS = {
  maxBytes: 128 * MIB,
  /** Milliseconds that a large body waits for room. */
  maxWaitMs: 20_000,
  /** Called with true when the budget is used up, and with false when there is room again. */
  onChange: (_isSaturated: boolean): void => {},
};

type WaitingBody = { readonly bytes: number; readonly settle: (hasRoom: boolean) => void };
/** `endReading` is null once the scan was ended. */
type ShareState = { bytes: number; endReading: (() => void) | null };

/**
 * The byte cap of each answer is not enough, because a kilobyte may decompress to a megabyte, and a character may take
 * two bytes. Large bodies reserve their room before they are read. Over the budget no new scan may begin, and the scan
 * with the most text is ended. That is our fault and not the origin's.
 */
export class TextBudget {
  readonly #settings: Readonly<typeof DEFAULTS>;
  readonly #shares = new Set<ShareState>();
  readonly #queue = new Set<WaitingBody>();
  #bytes = 0;
  /** Room of the large bodies that are being read. */
  #reservedBytes = 0;
  #isSaturated = false;

  constructor(options: Readonly<Partial<typeof DEFAULTS>> = {}) {
    this.#settings = { ...DEFAULTS, ...options };
  }

  get isSaturated(): boolean {
    return this.#isSaturated;
  }

  /** Opens the share of one scan. `endReading` is called at most once. */
  openShare(endReading: () => void): TextShare {
    const state: ShareState = { bytes: 0, endReading };
    this.#shares.add(state);
    return {
      addCharacters: (characters) => this.#add(state, characters * MAX_BYTES_PER_CHAR),
      openRoom: (maxBytes) => this.#openRoom(maxBytes),
      get isEnded() {
        return state.endReading === null;
      },
      release: () => {
        if (this.#shares.delete(state)) {
          this.#bytes -= state.bytes;
          collectSoon(state.bytes);
        }
        this.#serveAndNotify();
      },
    };
  }

  #openRoom(capBytes: number): BodyRoom {
    let bytes = 0;
    let room: Promise<boolean> | null = null;
    let isTaken = false;
    let isClosed = false;
    const reserve = async (maxBytes: number): Promise<boolean> => {
      bytes = Math.min(maxBytes, capBytes) * MAX_BYTES_PER_CHAR;
      isTaken = await this.#waitForRoom(bytes);
      // The reading may have ended while it waited.
      if (isTaken && isClosed) this.#free(bytes);
      return isTaken;
    };
    return {
      takeRoom: (maxBytes = capBytes) => {
        room ??= reserve(maxBytes);
        return room;
      },
      get lacksRoom() {
        return room !== null && !isTaken;
      },
      close: () => {
        if (isTaken && !isClosed) this.#free(bytes);
        isClosed = true;
      },
    };
  }

  /** Large bodies get room in the order in which they asked. */
  async #waitForRoom(bytes: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting: WaitingBody = { bytes, settle: resolve };
    this.#queue.add(waiting);
    const timer = setTimeout(() => resolve(false), this.#settings.maxWaitMs);
    this.#serveQueue();
    const hasRoom = await promise;
    clearTimeout(timer);
    this.#queue.delete(waiting);
    // A smaller body behind this one may have room.
    if (!hasRoom) this.#serveQueue();
    return hasRoom;
  }

  #serveQueue(): void {
    for (const waiting of this.#queue) {
      if (this.#bytes + this.#reservedBytes + waiting.bytes > this.#settings.maxBytes) return;
      this.#queue.delete(waiting);
      this.#reservedBytes += waiting.bytes;
      waiting.settle(true);
    }
  }

  #free(bytes: number): void {
    this.#reservedBytes -= bytes;
    this.#serveQueue();
  }

  #add(state: ShareState, bytes: number): void {
    if (!this.#shares.has(state)) return;
    state.bytes += bytes;
    this.#bytes += bytes;
    this.#endLargest();
    this.#serveAndNotify();
  }

  /**
   * Over the budget, ends the largest scan that still reads. An ended scan is about to release its text, so this text
   * ends no other scan: otherwise each short answer until then would end one more.
   */
  #endLargest(): void {
    const reading = [...this.#shares].filter(({ endReading }) => endReading !== null);
    if (reading.reduce((sum, { bytes }) => sum + bytes, 0) <= this.#settings.maxBytes) return;
    const [largest] = reading.toSorted((a, b) => b.bytes - a.bytes);
    const end = largest?.endReading;
    if (!largest || !end) return;
    largest.endReading = null;
    end();
  }

  #serveAndNotify(): void {
    this.#serveQueue();
    const isSaturated = this.#bytes > this.#settings.maxBytes;
    if (isSaturated === this.#isSaturated) return;
    this.#isSaturated = isSaturated;
    this.#settings.onChange(isSaturated);
  }
}

/**
 * Sends a request and counts the text of its answer. Without a share, nothing is counted. Throws NoRoom if the texts of
 * other scans left no room for it.
 */
export async function sendWithinBudget(
  share: TextShare | undefined,
  capBytes: number,
  send: (room: BodyRoom | undefined) => Promise<Observation<HttpData>>,
): Promise<Observation<HttpData>> {
  if (share === undefined) return send(undefined);
  const room = share.openRoom(capBytes);
  try {
    const observation = await send(room);
    if (room.lacksRoom || share.isEnded) throw new NoRoom();
    if (observation.ok) share.addCharacters(countAnswerCharacters(observation.data));
    return observation;
  } finally {
    room.close();
  }
}

function countAnswerCharacters(data: HttpData): number {
  const bytes = findSharedBytes(data, 'body');
  const bodyLength = bytes === null ? data.body.length : countCharacters(bytes);
  return data.headers.reduce((sum, [name, value]) => sum + name.length + value.length, bodyLength);
}

/** Counts the UTF-16 units of UTF-8 text: two for a character of four bytes, one for any other. */
function countCharacters(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let count = 0;
  for (const byte of bytes) {
    if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1;
  }
  return count;
}

/** The digest of a closed scan's observations still reads its texts. */
const COLLECT_AFTER_MS = 1_000;
/** V8 begins a collection after 64 MiB that it counts. With this factor, 11 MiB of dropped text are enough. */
const COUNTED_PER_BYTE = 6;
const MAX_COUNTED_BYTES = 96 * MIB;
let droppedBytes = 0;

/**
 * Makes V8 collect texts that a closed scan kept on this thread. V8 does not count their shared memory, so an idle
 * thread would keep hundreds of megabytes. V8 counts an unused buffer instead, which costs no real memory.
 */
export function collectSoon(decodedBytes: number): void {
  if (droppedBytes === 0 && decodedBytes > 0) setTimeout(countDropped, COLLECT_AFTER_MS).unref();
  droppedBytes += decodedBytes;
}

function countDropped(): void {
  const bytes = Math.min(COUNTED_PER_BYTE * droppedBytes, MAX_COUNTED_BYTES);
  droppedBytes = 0;
  try {
    void new ArrayBuffer(bytes, { maxByteLength: bytes });
  } catch {
    // A machine without memory for the buffer refuses it. Thrown in a timer, this would end the process.
  }
}
