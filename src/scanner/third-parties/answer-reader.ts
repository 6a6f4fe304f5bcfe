/**
 * Reads answers of third parties, at most up to a cap. A worker parses long answers: sellers and payers can make
 * their text slow to parse, and the thread that serves requests must not wait for it.
 */
import { type Serialized, shareBytes } from '../parse/json/transfer.ts';
import { openEndlessAccount } from '../workers/work-account.ts';
import { createWorkerPool, type WorkerPool } from '../workers/worker-pool.ts';

/** Parses the text of an answer. It returns only needed members, because Node copies what a worker returns. */
export type AnswerParser<Value, Detail extends Serialized = null> = {
  /** File URL of the module that exports `parse`; a worker imports it. */
  readonly module: string;
  readonly exportName: string;
  /** Pure; returns plain data for every text. */
  readonly parse: (text: string, detail: Detail) => Value;
};

export type AnswerReader = {
  /** Rejects with `AnswerTooLong`, the body's own error, or `EngineFault` if a worker failed. */
  read<Value, Detail extends Serialized>(
    body: AsyncIterable<Uint8Array>,
    capBytes: number,
    parser: AnswerParser<Value, Detail>,
    detail: Detail,
  ): Promise<Value>;
  close(): Promise<void>;
};

/** The answer is longer than its cap. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';

  constructor(capBytes: number) {
    super(`answered with more than ${capBytes} bytes`);
  }
}

/** The calling thread parses up to this many bytes itself; that takes less than a millisecond. */
const MAX_INLINE_BYTES = 64 * 1024;
export const DEFAULT_CAP_BYTES = 1024 * 1024;
const FIRST_BUFFER_BYTES = 4 * 1024;
const WORKER_MODULE = new URL('./answer-reader.ts', import.meta.url).href;
/** The cap of a receipt is so high that parsing one may take seconds and much memory. */
const POOL_LIMITS = { threads: 1, cpuMs: 10_000, firstTryMs: 10_000, wallMs: 20_000, heapMb: 512 };

/** The pool and its worker start with the first long answer. They do not keep the process alive. */
export function createAnswerReader(): AnswerReader {
  let pool: WorkerPool | undefined;
  // This work belongs to no scan, so no budget limits it.
  const account = openEndlessAccount('').origin;

  async function parseOnWorker<Value, Detail extends Serialized>(
    bytes: Buffer,
    { module, exportName }: AnswerParser<Value, Detail>,
    detail: Detail,
  ): Promise<Value> {
    const modules = [WORKER_MODULE, module] as const;
    const input = { bytes: shareBytes(bytes), exportName, detail };
    const work = () => ({ modules, exportName: 'parseOnThread', input, isRaw: true }) as const;
    pool ??= createWorkerPool(POOL_LIMITS);
    const value = await pool.runTask({ name: exportName, work, account });
    return value as Value; // a structured clone of what `parse` returned
  }

  return {
    async read(body, capBytes, parser, detail) {
      const bytes = await readUpToCap(body, capBytes);
      return bytes.length > MAX_INLINE_BYTES
        ? parseOnWorker(bytes, parser, detail)
        : parser.parse(bytes.toString('utf8'), detail);
    },
    close: async () => pool?.close(),
  };
}

type ParseTask = {
  readonly bytes: SharedArrayBuffer;
  readonly exportName: string;
  readonly detail: Serialized;
};

/** Runs on the worker, which has loaded the module of the parser: decodes the bytes and calls the parser. */
export function parseOnThread(
  { bytes, exportName, detail }: ParseTask,
  module: Readonly<Record<string, unknown>>,
): unknown {
  const parse = module[exportName];
  if (typeof parse !== 'function') throw new TypeError(`No parser is named ${exportName}.`);
  return parse(Buffer.from(bytes).toString('utf8'), detail);
}

/** If the body is too long, the throw ends `for await`, which destroys the body and its connection. */
async function readUpToCap(body: AsyncIterable<Uint8Array>, capBytes: number): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(0);
  let size = 0;
  for await (const piece of body) {
    if (size + piece.length > capBytes) throw new AnswerTooLong(capBytes);
    // Pieces are copied into one buffer, because a list of small pieces takes many times their size.
    if (size + piece.length > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * (size + piece.length), FIRST_BUFFER_BYTES));
      bytes.copy(larger, 0, 0, size);
      bytes = larger;
    }
    bytes.set(piece, size);
    size += piece.length;
  }
  return bytes.subarray(0, size);
}

export const REDIRECT_TEXT = 'answered with a redirect, which is not followed';

/** True if `fetch` has failed because the answer is a redirect, and `redirect` is `error`. */
export function isRefusedRedirect(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && cause.message === 'unexpected redirect';
}
