/** Parses JSON-RPC answers of chain nodes, within a cap for each method, and keeps only the members that we use. */
import { tryParseJson } from '../model/json.ts';
import { type AnswerParser, DEFAULT_CAP_BYTES } from './answer-reader.ts';

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
