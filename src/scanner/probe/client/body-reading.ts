/** Decides at two lengths whether more of a body is read. */
import {
  beginsLikeJson,
  LARGE_BODY_BYTES,
  OTHER_BODY_LIMIT,
} from '../../parse/text/document-limits.ts';
import type { BodyRoom } from './text-budget.ts';

/** State of one scan, which reads at most one body over 1 MiB. */
export type LargeBodies = { hasRead: boolean };

/** `cut`: the body ends here, as at its cap. `no-room`: the texts of other scans leave no room for it. */
export type BodyDecision = 'read' | 'cut' | 'no-room';

type BodyReadingOptions = {
  /** True if only JSON with the status 200 is read beyond OTHER_BODY_LIMIT. */
  readonly expectsJson: boolean;
  readonly largeBodies: LargeBodies;
  /** Absent if nothing limits the texts of the process. */
  readonly room?: BodyRoom | undefined;
};

/**
 * Reads one body. A page at a document's path is cut like any page. A scan reads one body over 1 MiB: it would
 * otherwise hold the first while it waits for room for the second, and several scans would wait for each other.
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

  /** True if `decideAt` must be asked before more is read. */
  hasToDecide(size: number): boolean {
    const isUnknown = this.expectsJson && !this.#isBeginningRead && size > OTHER_BODY_LIMIT;
    return isUnknown || (!this.#isLarge && size > LARGE_BODY_BYTES);
  }

  /**
   * @param readBeginning returns the decoded beginning of the body
   * @param maxBytes the length of the body, if it is known
   */
  async decideAt(
    size: number,
    status: number,
    readBeginning: () => Promise<string>,
    maxBytes?: number,
  ): Promise<BodyDecision> {
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
    return (await this.#room?.takeRoom(maxBytes)) === false ? 'no-room' : 'read';
  }
}
