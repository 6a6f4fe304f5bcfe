/** Errors of calls to a chain node. Their messages hold no URL, because a URL may hold a key. */
import { redact } from '../model/redact.ts';
import { AnswerTooLong } from './answer-reader.ts';
import { findCapBytes, type NodeAnswer } from './node-answers.ts';

/** Nodes that follow EIP-1474 answer "execution reverted" with this code and the data of the revert. */
const REVERT_CODE = 3;
/** Nodes use different codes for a revert, but similar messages. */
const REVERT_TEXT = /\brevert(ed)?\b|out of gas|gas required exceeds/i;
const SERVER_ERROR_CODE = -32_000;
/** Contract code of one instruction, STOP. */
const SHORT_CONTRACT_CODE = '0x00';

/**
 * A call without a result. Only a revert is a fact about the contract. A rate limit, a fault of the node and
 * a missing answer prove nothing.
 */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** JSON-RPC code; 3 for a revert, whose `data` viem then decodes. */
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, options: ErrorOptions & { code?: number; data?: unknown } = {}) {
    const { code = SERVER_ERROR_CODE, data, ...rest } = options;
    super(redact(message), rest);
    this.code = code;
    this.data = data;
  }

  get isRevert(): boolean {
    return this.code === REVERT_CODE;
  }

  /** True if the answer is longer than its cap. */
  get isTooLong(): boolean {
    return this.cause instanceof AnswerTooLong;
  }
}

/** Returns the result of an answer. Throws `NodeError` if there is none. */
export function requireResult(method: string, status: number, answer: NodeAnswer): unknown {
  if (answer !== null && 'error' in answer) {
    const { code = SERVER_ERROR_CODE, message, data } = answer.error;
    const errorCode = REVERT_TEXT.test(message) ? REVERT_CODE : code;
    throw new NodeError(`${method}: ${message} (${code})`, { code: errorCode, data });
  }
  if (status !== 200) throw new NodeError(`${method}: HTTP ${status}`);
  if (answer === null) throw new NodeError(`${method}: no JSON-RPC answer`);
  return answer.result;
}

/**
 * Replaces an answer that is longer than its cap. Callers of `eth_getCode` only test if there is code, so any code
 * will do. Throws `NodeError` for every other method.
 */
export function replaceLongAnswer(method: string): NodeAnswer {
  if (method === 'eth_getCode') return { result: SHORT_CONTRACT_CODE };
  const cause = new AnswerTooLong(findCapBytes(method));
  throw new NodeError(`${method}: ${cause.message}`, { cause });
}

/** Finds the node's error among the causes of an error of viem; null if there is none. */
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
