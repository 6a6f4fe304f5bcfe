/** Bounds the fetches at once, and hands them out in turn by block of client addresses. */

/** Fetches at once in one process. */
const FETCHES_AT_ONCE = 8;
/** Processor time in TLS handshakes, within an hour, beyond which a block goes behind the others. */
const HANDSHAKE_BUDGET_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Blocks that are remembered; the one that was idle longest is forgotten first. */
const MAX_BLOCKS = 10_000;

export type FetchTurns = {
  /**
   * Resolves when the work may begin, with what ends it. Blocks may be added while it waits: it has
   * the best place that any of them gives.
   */
  enter(blocks: ReadonlySet<string>): Promise<FetchTurn>;
};

export type FetchTurn = {
  /** @param handshakeMs processor time that the work's TLS handshakes took; charged to its blocks */
  end(handshakeMs: number): void;
};

type Waiting = { readonly blocks: ReadonlySet<string>; readonly begin: () => void };
type Block = { readonly lastTurn: number; readonly sinceMs: number; readonly handshakeMs: number };

const NEW_BLOCK: Block = { lastTurn: 0, sinceMs: 0, handshakeMs: 0 };

export function createFetchTurns(now: () => number, atOnce = FETCHES_AT_ONCE): FetchTurns {
  const known = new Map<string, Block>();
  const waiting: Waiting[] = [];
  let running = 0;
  let turn = 0;

  function remember(block: string, change: Partial<Block>): void {
    const before = known.get(block) ?? NEW_BLOCK;
    known.delete(block);
    known.set(block, { ...before, ...change });
    const idlest = known.keys().next();
    if (known.size > MAX_BLOCKS && !idlest.done) known.delete(idlest.value);
  }

  function charge(block: string, handshakeMs: number): void {
    const { sinceMs, handshakeMs: spent } = known.get(block) ?? NEW_BLOCK;
    const isOld = now() - sinceMs >= HOUR_MS;
    remember(block, isOld ? { sinceMs: now(), handshakeMs } : { handshakeMs: spent + handshakeMs });
  }

  function isCostly({ sinceMs, handshakeMs }: Block): boolean {
    return handshakeMs >= HANDSHAKE_BUDGET_MS && now() - sinceMs < HOUR_MS;
  }

  /** Smaller is sooner: costly blocks after all others, then the block whose turn is longest ago. */
  function place(blocks: ReadonlySet<string>): number {
    const places = [...blocks].map((block) => {
      const one = known.get(block) ?? NEW_BLOCK;
      return isCostly(one) ? turn + 1 + one.lastTurn : one.lastTurn;
    });
    return Math.min(...places);
  }

  function beginNext(): void {
    const [first] = waiting;
    if (first === undefined || running >= atOnce) return;
    const next = waiting.reduce((best, one) =>
      place(one.blocks) < place(best.blocks) ? one : best,
    );
    waiting.splice(waiting.indexOf(next), 1);
    running += 1;
    turn += 1;
    for (const block of next.blocks) remember(block, { lastTurn: turn });
    next.begin();
  }

  return {
    enter(blocks) {
      const { promise, resolve } = Promise.withResolvers<FetchTurn>();
      const end = (handshakeMs: number) => {
        running -= 1;
        for (const block of blocks) charge(block, handshakeMs);
        beginNext();
      };
      waiting.push({ blocks, begin: () => resolve({ end }) });
      beginNext();
      return promise;
    },
  };
}
