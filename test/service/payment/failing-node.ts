import { createServer, type ServerResponse } from 'node:http';
import { listenLocally } from '../../fixtures/service/local-server.ts';

export const NODE_FAILURES = [
  'http-429',
  'rpc-429',
  'http-503',
  'garbage',
  'timeout',
  'reset',
] as const;
export type NodeFailure = (typeof NODE_FAILURES)[number];

export type FailingNode = AsyncDisposable & {
  /** Its path holds `NODE_SECRET`. */
  readonly rpcUrl: string;
  /** Fails these methods in this way; null: answers. */
  fail(failure: NodeFailure | null, methods?: readonly string[]): void;
  /** Takes transactions and lets them fall, so many. */
  dropNext(count: number): void;
  readonly requestedMethods: string[];
  /** Transactions that it was given, dropped ones included. */
  readonly raw: string[];
};

export const NODE_SECRET = 'SECRETKEY1234567';

export async function startFailingNode(chainUrl: string): Promise<FailingNode> {
  const state = { failure: null as NodeFailure | null, methods: [] as readonly string[], drop: 0 };
  const requestedMethods: string[] = [];
  const raw: string[] = [];
  const hanging = new Set<ServerResponse>();

  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces).toString();
    const { id, method, params } = JSON.parse(body);
    requestedMethods.push(method);
    const { failure, methods } = state;
    if (failure !== null && methods.includes(method)) {
      fail(failure, response, id, hanging);
      return;
    }
    if (method === 'eth_sendRawTransaction') {
      raw.push(params[0]);
      if (state.drop > 0) {
        state.drop -= 1;
        answer(response, 200, { jsonrpc: '2.0', id, result: `0x${'1'.repeat(64)}` });
        return;
      }
    }
    const reply = await fetch(chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    answer(response, reply.status, await reply.json());
  });
  const local = await listenLocally(server);
  return {
    rpcUrl: `${local.url}/v2/${NODE_SECRET}`,
    requestedMethods,
    raw,
    fail(failure, methods = []) {
      state.failure = failure;
      state.methods = methods;
      for (const response of hanging) response.destroy();
      hanging.clear();
    },
    dropNext(count) {
      state.drop = count;
    },
    async [Symbol.asyncDispose]() {
      for (const response of hanging) response.destroy();
      await local[Symbol.asyncDispose]();
    },
  };
}

function fail(
  failure: NodeFailure,
  response: ServerResponse,
  id: unknown,
  hanging: Set<ServerResponse>,
): void {
  const error = { code: -32_005, message: `limit of ${NODE_SECRET} reached` };
  switch (failure) {
    case 'http-429':
      answer(response, 429, { jsonrpc: '2.0', id, error: { ...error, code: 429 } });
      return;
    case 'rpc-429':
      answer(response, 200, { jsonrpc: '2.0', id, error });
      return;
    case 'http-503':
      answer(response, 503, { message: 'no upstream' });
      return;
    case 'garbage':
      response.end('<html>');
      return;
    case 'timeout':
      hanging.add(response);
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
