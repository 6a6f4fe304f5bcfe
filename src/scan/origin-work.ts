/** Our own pure functions over origin documents, run on the pool of killable workers. */
import { TaskLimitExceeded } from '../engine/errors.ts';
import type { Pool } from '../engine/pool/pool.ts';

/**
 * The function's answer, or null where the documents are too much for it: that is the origin's
 * doing and a finding. Any other failure is ours and rejects.
 */
export async function workOn<Input, Output>(
  pool: Pool,
  module: URL,
  work: (input: Input) => Output,
  input: Input,
): Promise<Output | null> {
  try {
    const answer = await pool.run({ module: module.href, exportName: work.name, input });
    return answer as Output; // what `work` returned, cloned: plain data keeps its type
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return null;
    throw error;
  }
}
