/** JSON-RPC answers of chain nodes: their caps, and what is kept of each method. */
import { type AnswerParser, DEFAULT_CAP_BYTES, tryParseJson } from './answer-reader.ts';

/** A log as far as anything here reads it. */
export type NodeLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
};

export type NodeQuestion = {
  readonly method: string;
  /** Keeps the logs of this contract in a receipt, in lower case; all if it is null. */
  readonly contract: string | null;
};

/** Null if it is not an answer of JSON-RPC. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code?: number; readonly message: string; readonly data: unknown } }
  | null;

const KIB = 1024;
/** Logs, blocks. */
const LONG_BYTES = 8 * KIB * KIB;
/** A payer can pad the transaction that spends their nonce, so a receipt is never refused for its size. */
const CAPS: Readonly<Record<string, number>> = {
  // A contract returns as many bytes as it likes.
  eth_call: 16 * KIB,
  // 24 KiB of code (EIP-170) are 48 KiB of hex.
  eth_getCode: 64 * KIB,
  eth_getLogs: LONG_BYTES,
  eth_getBlockByNumber: LONG_BYTES,
  eth_getBlockByHash: LONG_BYTES,
  eth_getTransactionReceipt: Number.POSITIVE_INFINITY,
};
/** A word in hex: data of the events that are read. Longer data is none of theirs. */
const WORD_CHARS = 66;
const MAX_TOPICS = 4;
const MAX_MESSAGE_CHARS = 160;
const MAX_DATA_CHARS = 16 * KIB;

/** Bytes that are read of an answer to this method. */
export function findCapBytes(method: string): number {
  return CAPS[method] ?? DEFAULT_CAP_BYTES;
}

export const NODE_ANSWER_PARSER: AnswerParser<NodeAnswer, NodeQuestion> = {
  module: new URL('./node-answers.ts', import.meta.url).href,
  exportName: 'readNodeAnswer',
  parse: readNodeAnswer,
};

export function readNodeAnswer(text: string, question: NodeQuestion): NodeAnswer {
  const answer = membersOf(tryParseJson(text));
  if (answer === null) return null;
  const error = membersOf(answer['error']);
  if (error !== null) return { error: cutError(error) };
  return 'result' in answer ? { result: kept(answer['result'], question) } : null;
}

function cutError({ code, message, data }: Members) {
  const isShort = typeof data !== 'string' || data.length <= MAX_DATA_CHARS;
  return {
    ...(typeof code === 'number' ? { code } : {}),
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARS) : 'an error',
    data: isShort ? data : undefined,
  };
}

function kept(result: unknown, { method, contract }: NodeQuestion): unknown {
  const members = membersOf(result);
  switch (method) {
    case 'eth_getLogs':
      return isLogs(result) ? result.flatMap(toLog) : null;
    case 'eth_getTransactionReceipt': {
      if (members === null) return result;
      const logs = Array.isArray(members['logs']) ? members['logs'].flatMap(toLog) : [];
      const isKept = ({ address }: NodeLog) => contract === null || address === contract;
      return { ...withoutLists(members), logs: logs.filter(isKept) };
    }
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash':
      // Hashes of a block's transactions are most of it.
      return members === null ? result : withoutLists(members);
    case 'getTokenAccountsByOwner':
      // The number says what is asked: anybody can open accounts for an owner.
      return Array.isArray(members?.['value']) ? members['value'].length : null;
    default:
      return result;
  }
}

function isLogs(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((log) => membersOf(log) !== null);
}

/** Empty for a log that is pending, or that no event of a token has made. */
function toLog(value: unknown): readonly NodeLog[] {
  const log = membersOf(value);
  if (log === null) return [];
  const { address, topics, data = '0x', blockNumber, transactionHash } = log;
  if (!Array.isArray(topics) || topics.length > MAX_TOPICS || !topics.every(isShort)) return [];
  if (![address, data, blockNumber, transactionHash].every(isShort)) return [];
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

function isShort(value: unknown): boolean {
  return typeof value === 'string' && value.length <= WORD_CHARS;
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function withoutLists(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => typeof value !== 'object'),
  );
}
