/**
 * Reads answers of third parties: bytes beyond a cap are never read, and what is long is parsed on a worker, because it
 * contains text of sellers and payers, and the thread that serves must not wait for it.
 */
import type { Serialized } from '../parse/json/transfer.ts';
import { openEndlessAccount } from '../workers/work-account.ts';
import { createWorkerPool, type WorkerPool } from '../workers/worker-pool.ts';

/** Parses the text of an answer and keeps what is needed: what crosses from a worker is copied. */
export type Reading<Value, Detail extends Serialized = null> = {
  /** File URL of the module that exports the function. */
  readonly module: string;
  readonly exportName: string;
  /** Pure; returns plain data, whatever the text is. */
  readonly read: (text: string, detail: Detail) => Value;
};

export type AnswerReader = {
  /** Rejects with `AnswerTooLong`, as the body does, or with `EngineFault` if a worker failed. */
  read<Value, Detail extends Serialized>(
    body: AsyncIterable<Uint8Array>,
    capBytes: number,
    reading: Reading<Value, Detail>,
    detail: Detail,
  ): Promise<Value>;
  close(): Promise<void>;
};

/** The answer is longer than its cap; the rest of it was not read. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';

  constructor(capBytes: number) {
    super(`answered with more than ${capBytes} bytes`);
  }
}

/** Parsing this many bytes takes less than a millisecond. */
const ON_THREAD_BYTES = 64 * 1024;
/** Cap of most answers. */
export const ANSWER_BYTES = 1024 * 1024;
const FIRST_BYTES = 4 * 1024;
const READ_MODULE = new URL('./read-on-thread.ts', import.meta.url).href;
/** A receipt has no cap, so its parsing may take seconds and much memory. */
const LIMITS = { threads: 1, cpuMs: 10_000, firstTryMs: 10_000, wallMs: 20_000, heapMb: 512 };

/** The worker boots for the first long answer, and does not keep the process alive. */
export function createAnswerReader(): AnswerReader {
  let pool: WorkerPool | undefined;
  const { origin: account } = openEndlessAccount('');

  async function readOnWorker<Value, Detail extends Serialized>(
    bytes: Buffer,
    { module, exportName }: Reading<Value, Detail>,
    detail: Detail,
  ): Promise<Value> {
    const shared = new SharedArrayBuffer(bytes.length, { maxByteLength: bytes.length });
    bytes.copy(Buffer.from(shared));
    const input = { bytes: shared, exportName, detail };
    const work = () =>
      ({
        modules: [READ_MODULE, module],
        exportName: 'readOnThread',
        input,
        isRaw: true,
      }) as const;
    pool ??= createWorkerPool(LIMITS);
    const value = await pool.runTask({ name: exportName, work, account });
    return value as Value; // what the reading returned, cloned: plain data
  }

  return {
    async read(body, capBytes, reading, detail) {
      const bytes = await readBounded(body, capBytes);
      return bytes.length > ON_THREAD_BYTES
        ? readOnWorker(bytes, reading, detail)
        : reading.read(bytes.toString('utf8'), detail);
    },
    close: async () => pool?.close(),
  };
}

/** Leaving the loop destroys the body and its connection. */
async function readBounded(body: AsyncIterable<Uint8Array>, capBytes: number): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(0);
  let size = 0;
  for await (const piece of body) {
    if (size + piece.length > capBytes) throw new AnswerTooLong(capBytes);
    // One doubling buffer: a list of small pieces costs many times their size.
    if (size + piece.length > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * (size + piece.length), FIRST_BYTES));
      bytes.copy(larger, 0, 0, size);
      bytes = larger;
    }
    bytes.set(piece, size);
    size += piece.length;
  }
  return bytes.subarray(0, size);
}

/** Undefined if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
