/** Scans that outlast a call: the client of the official SDK, and a seller that answers when the test says so. */
import { connect as connectTo, createServer } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../../src/cli/engine.ts';
import { createLocalBackend } from '../../../src/cli/mcp-command.ts';
import { type Clients, openClients } from '../../../src/scanner/clients/open-clients.ts';
import { createMcpServer } from '../../../src/scanner/mcp/create-server.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';

const TIMEOUT_MS = 120_000;

let engine: Engine;
let clients: Clients;
beforeAll(async () => {
  for (const name of ['X402SCAN_URL', 'BAZAAR_URL', 'ECOSYSTEM_URL']) process.env[name] = '';
  engine = await startEngine(null);
  clients = openClients();
});
afterAll(async () => {
  await Promise.all([clients.close(), engine.pool.close()]);
});

/** A seller behind a server that passes nothing on until `open` is called. */
async function startSlowSeller() {
  const gate = Promise.withResolvers<void>();
  let rootCount = 0;
  const seller = await startCraftedSeller({
    answers: {
      'GET /': (_request, usual) => {
        rootCount += 1;
        return usual;
      },
    },
  });
  const server = createServer(async (socket) => {
    socket.on('error', () => socket.destroy());
    await gate.promise;
    const inner = connectTo(Number(new URL(seller.url).port), '127.0.0.1');
    inner.on('error', () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  const { url } = await listenLocally(server);
  return {
    url,
    open: () => gate.resolve(),
    countRoots: () => rootCount,
    async [Symbol.asyncDispose]() {
      gate.resolve();
      server.close();
      await seller[Symbol.asyncDispose]();
    },
  };
}

async function connect(answerWithinMs: number) {
  const session = new AbortController();
  const options = { allowPrivate: true, service: null, sessionEnd: session.signal, answerWithinMs };
  const server = createMcpServer({
    backend: createLocalBackend(engine, clients, options),
    version: '1',
    describeFailure: (error) => ({ error: 'failed', message: String(error) }),
    progressEveryMs: 20,
  });
  const client = new Client({ name: 'test', version: '1' });
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(serverEnd), client.connect(clientEnd)]);
  return {
    client,
    scan: async (url: string, onprogress?: (progress: { progress: number }) => void) => {
      const call = { name: 'scan_origin', arguments: { url } };
      const settings = onprogress === undefined ? {} : { onprogress };
      const answer = await client.callTool(call, undefined, settings);
      return { isError: answer.isError ?? false, value: answer.structuredContent };
    },
    async [Symbol.asyncDispose]() {
      session.abort();
      await client.close();
    },
  };
}

test(
  'a call that lasts too long says so, and the next call joins the running scan',
  async () => {
    await using seller = await startSlowSeller();
    await using session = await connect(500);
    expect(await session.scan(seller.url)).toEqual({
      isError: true,
      value: {
        error: 'scan_processing',
        message: `The scan of ${seller.url} is still running: call scan_origin again with the same url.`,
        status: 'processing',
        charged: false,
      },
    });
    seller.open();
    await expect
      .poll(async () => (await session.scan(seller.url)).value, { timeout: TIMEOUT_MS })
      .toMatchObject({ origin: seller.url, grade: expect.any(String) });
    expect(seller.countRoots()).toBe(1);
  },
  TIMEOUT_MS,
);

test(
  'a client that gave a token gets progress, which increases',
  async () => {
    await using seller = await startSlowSeller();
    await using session = await connect(60_000);
    const seconds: number[] = [];
    const scan = await session.scan(seller.url, ({ progress }) => {
      seconds.push(progress);
      if (seconds.length === 3) seller.open();
    });
    expect(scan).toMatchObject({ isError: false, value: { origin: seller.url } });
    expect(seconds.length).toBeGreaterThanOrEqual(3);
    expect(seconds).toEqual([...new Set(seconds)].toSorted((one, other) => one - other));
  },
  TIMEOUT_MS,
);
