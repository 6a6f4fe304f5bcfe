/**
 * Parses JSON-RPC answers of chain nodes, within a cap for each method, and keeps only the members that we use. A call
 * without a result is a `NodeError`. Its message holds no URL, because a URL may hold a key.
 */
import { tryParseJson } from '../model/json.ts';
import { redact } from '../model/redact.ts';
import { type AnswerParser, AnswerTooLong, DEFAULT_CAP_BYTES } from './answer-reader.ts';

/** The members of a log that we use. */
export type NodeLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
};

/** The request that an answer belongs to. */
export type NodeQuestion = {
  readonly method: string;
  /** Lower-case address. Of the logs in a receipt, only those of this contract are kept; null keeps all. */
  readonly contract: string | null;
};

/** Null if the text is not a JSON-RPC answer. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code?: number; readonly message: string; readonly data: unknown } }
  | null;

const KIB = 1024;
/** Cap for logs and blocks. */
const LONG_ANSWER_BYTES = 8 * KIB * KIB;
/** Cap of an answer by method. Every other method has the default cap. */
const CAP_BYTES: Readonly<Record<string, number>> = {
  // A contract may return any number of bytes.
  eth_call: 16 * KIB,
  // EIP-170 allows 24 KiB of code, which is 48 KiB of hex.
  eth_getCode: 64 * KIB,
  eth_getLogs: LONG_ANSWER_BYTES,
  eth_getBlockByNumber: LONG_ANSWER_BYTES,
  eth_getBlockByHash: LONG_ANSWER_BYTES,
  // A payer can pad the transaction that spends their nonce. A transaction has at most 2^24 gas (EIP-7825), and a byte
  // of a log costs 8 gas, so the receipt of a real transaction is far shorter.
  eth_getTransactionReceipt: 64 * KIB * KIB,
};
/** Length of `0x` and 32 bytes in hex. Topics and data of the events that we read are not longer. */
const MAX_WORD_CHARS = 66;
const MAX_TOPICS = 4;
const MAX_ERROR_MESSAGE_CHARS = 160;
const MAX_ERROR_DATA_CHARS = 16 * KIB;

/** The most bytes that are read of an answer to this method. */
export function findCapBytes(method: string): number {
  return CAP_BYTES[method] ?? DEFAULT_CAP_BYTES;
}

export const NODE_ANSWER_PARSER: AnswerParser<NodeAnswer, NodeQuestion> = {
  module: new URL('./node-answers.ts', import.meta.url).href,
  exportName: 'readNodeAnswer',
  parse: readNodeAnswer,
};

export function readNodeAnswer(text: string, question: NodeQuestion): NodeAnswer {
  const answer = readObject(tryParseJson(text));
  if (answer === null) return null;
  const error = readObject(answer['error']);
  if (error !== null) return { error: shortenError(error) };
  return 'result' in answer ? { result: keepUsedMembers(answer['result'], question) } : null;
}

function shortenError({ code, message, data }: Members) {
  const isDataShort = typeof data !== 'string' || data.length <= MAX_ERROR_DATA_CHARS;
  return {
    ...(typeof code === 'number' ? { code } : {}),
    message: typeof message === 'string' ? message.slice(0, MAX_ERROR_MESSAGE_CHARS) : 'an error',
    data: isDataShort ? data : undefined,
  };
}

function keepUsedMembers(result: unknown, { method, contract }: NodeQuestion): unknown {
  const members = readObject(result);
  switch (method) {
    case 'eth_getLogs':
      return isLogList(result) ? result.flatMap(toLog) : null;
    case 'eth_getTransactionReceipt': {
      if (members === null) return result;
      const logs = Array.isArray(members['logs']) ? members['logs'].flatMap(toLog) : [];
      const isOfContract = ({ address }: NodeLog) => contract === null || address === contract;
      return { ...keepScalars(members), logs: logs.filter(isOfContract) };
    }
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash':
      // A block consists mostly of transaction hashes, which we do not use.
      return members === null ? result : keepScalars(members);
    case 'getTokenAccountsByOwner':
      // Only the number is used. Anybody can open accounts for an owner, so the list may be long.
      return Array.isArray(members?.['value']) ? members['value'].length : null;
    default:
      return result;
  }
}

function isLogList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((log) => readObject(log) !== null);
}

/** Returns no log if the log is pending, or has longer values than the events that we read. */
function toLog(value: unknown): readonly NodeLog[] {
  const { address, topics, data = '0x', blockNumber, transactionHash } = readObject(value) ?? {};
  if (!Array.isArray(topics) || topics.length > MAX_TOPICS || !topics.every(isShortText)) return [];
  if (![address, data, blockNumber, transactionHash].every(isShortText)) return [];
  return [
    {
      address: String(address).toLowerCase(),
      topics: topics.map(String),
      data: String(data),
      blockNumber: String(blockNumber),
      transactionHash: String(transactionHash),
    },
  ];
}

function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_WORD_CHARS;
}

type Members = Readonly<Record<string, unknown>>;

function readObject(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function keepScalars(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => typeof value !== 'object'),
  );
}

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
