/** `readNodeAnswer` keeps only those members of a node's answer that we use, by method. */
import { describe, expect, test } from 'vitest';
import {
  findCapBytes,
  NodeError,
  readNodeAnswer,
  replaceLongAnswer,
  requireResult,
} from '../../../src/scanner/third-parties/node-answers.ts';

const WORD = `0x${'ab'.repeat(32)}`;
const TOKEN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const log = (changes: object = {}) => ({
  address: TOKEN,
  topics: [WORD, WORD, WORD],
  data: WORD,
  blockNumber: '0x10',
  blockHash: WORD,
  transactionHash: WORD,
  removed: false,
  ...changes,
});
const KEPT_LOG = {
  address: TOKEN.toLowerCase(),
  topics: [WORD, WORD, WORD],
  data: WORD,
  blockNumber: '0x10',
  transactionHash: WORD,
};

function read(method: string, result: unknown, contract: string | null = null) {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  return readNodeAnswer(text, { method, contract });
}

test.each([
  ['eth_call', 16 * 1024],
  ['eth_getCode', 64 * 1024],
  ['eth_getLogs', 8 * 1024 * 1024],
  ['eth_getBlockByNumber', 8 * 1024 * 1024],
  ['eth_getTransactionReceipt', 64 * 1024 * 1024],
  ['eth_chainId', 1024 * 1024],
])('an answer to %s may have %d bytes', (method, bytes) =>
  expect(findCapBytes(method)).toBe(bytes),
);

describe('readNodeAnswer', () => {
  test('keeps the members of a log that we use', () => {
    expect(read('eth_getLogs', [log()])).toEqual({ result: [KEPT_LOG] });
  });

  test('drops pending logs, and logs that are not events of a token', () => {
    const droppedLogs = [
      log({ transactionHash: null }),
      log({ data: `${WORD}00` }),
      log({ topics: [WORD, `${WORD}00`] }),
      log({ topics: null }),
    ];
    expect(read('eth_getLogs', droppedLogs)).toEqual({ result: [] });
  });

  test.each([[[7]], ['x'], [null]])('gives null if the list of logs is %j', (result) => {
    expect(read('eth_getLogs', result)).toEqual({ result: null });
  });

  test('keeps the logs of one contract in a receipt', () => {
    const logs = [log(), log({ address: '0x1111111111111111111111111111111111111111' })];
    const receipt = { status: '0x1', transactionHash: WORD, logsBloom: '0x', logs };
    expect(read('eth_getTransactionReceipt', receipt, TOKEN.toLowerCase())).toEqual({
      result: { status: '0x1', transactionHash: WORD, logsBloom: '0x', logs: [KEPT_LOG] },
    });
    expect(read('eth_getTransactionReceipt', null, TOKEN)).toEqual({ result: null });
  });

  test('drops the lists of transactions and withdrawals of a block', () => {
    const block = { number: '0x1', timestamp: '0x2', transactions: [WORD], withdrawals: [{}] };
    expect(read('eth_getBlockByNumber', block)).toEqual({
      result: { number: '0x1', timestamp: '0x2' },
    });
  });

  test('keeps only the length of a list of Solana accounts', () => {
    expect(read('getTokenAccountsByOwner', { context: {}, value: [{}, {}] })).toEqual({
      result: 2,
    });
  });

  test('cuts the message of an error at 160 characters', () => {
    const error = { code: 3, message: 'x'.repeat(500), data: '0x08' };
    expect(
      readNodeAnswer(JSON.stringify({ error }), { method: 'eth_call', contract: null }),
    ).toEqual({ error: { code: 3, message: 'x'.repeat(160), data: '0x08' } });
  });

  test.each(['', '<html>', '7', 'null', '[]', '{}'])('gives null for %j', (text) => {
    expect(readNodeAnswer(text, { method: 'eth_call', contract: null })).toBeNull();
  });
});

test('contract code over the limit counts as code; any other answer over its limit is an error', () => {
  expect(replaceLongAnswer('eth_getCode')).toEqual({ result: '0x00' });
  expect(() => replaceLongAnswer('eth_call')).toThrow(
    'eth_call: answered with more than 16384 bytes',
  );
});

test('requireResult returns the result; it throws for an HTTP error, a missing answer and an error of the node', () => {
  expect(requireResult('eth_call', 200, { result: '0x' })).toBe('0x');
  expect(() => requireResult('eth_call', 502, { result: '0x' })).toThrow('eth_call: HTTP 502');
  expect(() => requireResult('eth_call', 200, null)).toThrow('eth_call: no JSON-RPC answer');
  const error = { code: -32_000, message: 'execution reverted', data: '0x' };
  expect(() => requireResult('eth_call', 200, { error })).toThrow(NodeError);
});
