/** Failed calls of a node: what failed, without a URL. */
import { redact } from '../model/redact.ts';
import { AnswerTooLong } from './answer-reader.ts';
import { findCapBytes, type NodeAnswer } from './node-answers.ts';

/** Nodes that follow EIP-1474 answer "execution reverted" with this code and the data of the revert. */
const REVERT_CODE = 3;
/** Nodes number reverts as they like; what they say of them is the same everywhere. */
const REVERT_TEXT = /\brevert(ed)?\b|out of gas|gas required exceeds/i;
const DEFAULT_CODE = -32_000;
/** STOP. */
const SOME_CODE = '0x00';

/**
 * A call that brought no result. Only a revert says something of the contract; a limit, a fault of the
 * node and silence say nothing at all, whatever form they come in.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** viem decodes `data` if this is 3, a revert. */
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, options: ErrorOptions & { code?: number; data?: unknown } = {}) {
    const { code = DEFAULT_CODE, data, ...rest } = options;
    super(redact(message), rest);
    this.code = code;
    this.data = data;
  }

  get isRevert(): boolean {
    return this.code === REVERT_CODE;
  }

  /** The result is longer than its cap. */
  get isTooLong(): boolean {
    return this.cause instanceof AnswerTooLong;
  }
}

/** Throws `NodeError`. */
export function requireResult(method: string, status: number, answer: NodeAnswer): unknown {
  if (answer !== null && 'error' in answer) {
    const { code = DEFAULT_CODE, message, data } = answer.error;
    const isRevertAnswer = code === REVERT_CODE || REVERT_TEXT.test(message);
    throw new NodeError(`${method}: ${message} (${code})`, {
      code: isRevertAnswer ? REVERT_CODE : code,
      data,
    });
  }
  if (status !== 200) throw new NodeError(`${method}: HTTP ${status}`);
  if (answer === null) throw new NodeError(`${method}: no JSON-RPC answer`);
  return answer.result;
}

/** The answer in place of one over its cap: code of any length is code. Throws `NodeError` for any other method. */
export function replaceLongAnswer(method: string): NodeAnswer {
  if (method === 'eth_getCode') return { result: SOME_CODE };
  const cause = new AnswerTooLong(findCapBytes(method));
  throw new NodeError(`${method}: ${cause.message}`, { cause });
}

/** The node's own error inside what viem made of it; null if the fault is not the node's. */
export function findNodeError(error: unknown): NodeError | null {
  if (error instanceof NodeError) return error;
  return error instanceof Error ? findNodeError(error.cause) : null;
}

export function isRevert(error: unknown): boolean {
  return findNodeError(error)?.isRevert === true;
}

export function isTooLong(error: unknown): boolean {
  return findNodeError(error)?.isTooLong === true;
}
