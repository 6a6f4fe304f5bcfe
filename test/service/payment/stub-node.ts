import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type Hex, numberToHex, pad, toEventSelector } from 'viem';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { TERMS } from './payer.ts';

export type NodeAnswer = (params: readonly unknown[]) => unknown;

export type StubNode = AsyncDisposable & {
  readonly rpcUrl: string;
  /** By method; what is not there is answered with an error. */
  readonly answers: Record<string, NodeAnswer>;
  /** Methods, oldest first. */
  readonly requestedMethods: string[];
};

/** Answered as a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Answers of our chain with our token, on which no authorization was ever used. `nowSec` is the time of its last block. */
export function unusedChain(nowSec = () => Date.now() / 1000) {
  return {
    eth_chainId: () => '0x2105',
    eth_getCode: () => '0x01',
    eth_getBlockByNumber: blocksUntil(nowSec),
    eth_call: () => `0x${'0'.repeat(64)}`,
  };
}

/** Its path holds a key, as those of hosted nodes do. */
export async function startStubNode(answers: Record<string, NodeAnswer>): Promise<StubNode> {
  const requestedMethods: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString());
    requestedMethods.push(method);
    answer(response, id, () => {
      const known = answers[method];
      if (known === undefined) throw new RpcError(-32_601, `no ${method}`);
      return known(params);
    });
  });
  const local = await listenLocally(server);
  return { ...local, rpcUrl: `${local.url}/v2/SECRETKEY123`, answers, requestedMethods };
}

/** Starts a server on a loopback address, which keeps the paths of its requests, oldest first. */
export async function startServer(listener: RequestListener) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    listener(request, response);
  });
  return { ...(await listenLocally(server)), paths };
}

function answer(response: ServerResponse, id: unknown, result: () => unknown): void {
  const reply = (body: object) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  };
  try {
    reply({ result: result() });
  } catch (error) {
    const code = error instanceof RpcError ? error.code : -32_603;
    reply({ error: { code, message: error instanceof Error ? error.message : 'failed' } });
  }
}

const topic = (name: string) => toEventSelector(name);
const word = (value: Hex | bigint) => pad(typeof value === 'bigint' ? numberToHex(value) : value);

export type UseOnChain = {
  readonly from: Hex;
  readonly to: Hex;
  readonly nonce: Hex;
  readonly value: bigint;
  readonly transaction: Hex;
  readonly block: bigint;
};

/** The log of `AuthorizationUsed`, as `eth_getLogs` gives it. */
export function createUsedLog({ from, nonce, transaction, block }: UseOnChain) {
  return {
    address: TERMS.asset,
    topics: [topic('AuthorizationUsed(address,bytes32)'), word(from), nonce],
    data: '0x',
    blockNumber: numberToHex(block),
    blockHash: word(block),
    transactionHash: transaction,
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  };
}

/** The receipt of a transaction that moved `value` by that nonce. */
export function createReceipt(use: UseOnChain) {
  const used = createUsedLog(use);
  const transfer = {
    ...used,
    topics: [topic('Transfer(address,address,uint256)'), word(use.from), word(use.to)],
    data: word(use.value),
    logIndex: '0x1',
  };
  return {
    transactionHash: use.transaction,
    transactionIndex: '0x0',
    blockHash: word(use.block),
    blockNumber: numberToHex(use.block),
    from: use.from,
    to: TERMS.asset,
    cumulativeGasUsed: '0x1',
    gasUsed: '0x1',
    effectiveGasPrice: '0x1',
    contractAddress: null,
    logs: [used, transfer],
    logsBloom: '0x',
    status: '0x1',
    type: '0x2',
  };
}

/** A chain of one block every two seconds, the newest now. */
export function blocksUntil(nowSec: () => number, height = 1_000_000n) {
  return ([which]: readonly unknown[]) => {
    const number = which === 'latest' ? height : BigInt(String(which));
    const timestamp = BigInt(Math.floor(nowSec())) - (height - number) * 2n;
    return {
      number: numberToHex(number),
      timestamp: numberToHex(timestamp),
      hash: word(number),
      parentHash: word(number),
      transactions: [],
      gasLimit: '0x1',
      gasUsed: '0x1',
      size: '0x1',
    };
  };
}
