/** Slow clients are cut off after a time limit, and other clients do not wait for them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { connectRaw } from './raw-client.ts';

const LIMITS = { requestTimeoutMs: 400, checkIntervalMs: 50 };
const HEAD = 'POST /v1/verify/start HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe.each([
  ['without a proxy', {}, ''],
  ['behind a trusted proxy', { TRUST_PROXY: '127.0.0.0/8' }, 'X-Forwarded-For: 192.0.2.1\r\n'],
])('%s', (_case, environment, proxyHeader) => {
  let service: TestApp;
  let port: number;

  beforeAll(async () => {
    service = await startApp({ environment, limits: LIMITS });
    port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const isAlive = async () => (await fetch(`http://127.0.0.1:${port}/health`)).status === 200;

  test.each([
    ['sends nothing', ''],
    ['stops within the request line', 'GET /v1/che'],
    ['stops within the headers', `${HEAD}${proxyHeader}X-Slow: a`],
    ['stops within the body', `${HEAD}${proxyHeader}Content-Length: 40\r\n\r\n{"url":"sh`],
    [
      'stops within a chunk',
      `${HEAD}${proxyHeader}Transfer-Encoding: chunked\r\n\r\n28\r\n{"url":"sh`,
    ],
  ])('a client that %s gets an error, and its connection ends', async (_case, bytes) => {
    const client = await connectRaw(port);
    client.send(bytes);
    expect(await isAlive()).toBe(true);
    const answer = await client.answer;
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toMatch(/"error":"request_timeout".*"charged":false/);
    expect(client.socket.destroyed || client.socket.readableEnded).toBe(true);
  });

  test('a client that sends one byte at a time gets the same error after the same time', async () => {
    const client = await connectRaw(port);
    client.send(`${HEAD}${proxyHeader}`);
    const byteTimer = setInterval(() => client.send('X'), 20);
    const answer = await client.answer;
    clearInterval(byteTimer);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('two hundred slow clients at the same time delay no other client', async () => {
    const slowClients = await Promise.all(Array.from({ length: 200 }, () => connectRaw(port)));
    for (const client of slowClients) client.send(`${HEAD}${proxyHeader}`);
    expect(await isAlive()).toBe(true);
    const answers = await Promise.all(slowClients.map(({ answer }) => answer));
    expect(new Set(answers.map((answer) => answer.slice(0, 12)))).toEqual(
      new Set(['HTTP/1.1 408']),
    );
    expect(await isAlive()).toBe(true);
  });

  test('a client that does not read its answer does not delay other readers', async () => {
    const client = await connectRaw(port);
    const { socket } = client;
    socket.pause();
    const requestHead = `GET /openapi.json HTTP/1.1\r\nHost: x\r\n${proxyHeader}`;
    client.send(`${requestHead}\r\n`.repeat(20));
    client.send(`${requestHead}Connection: close\r\n\r\n`);
    for (let count = 0; count < 5; count += 1) expect(await isAlive()).toBe(true);
    socket.resume();
    const answers = (await client.answer).match(/HTTP\/1\.1 200 OK/g);
    expect(answers).toHaveLength(21);
  });

  test('clients that disconnect in the middle of an answer do not stop the service', async () => {
    for (let count = 0; count < 20; count += 1) {
      const client = await connectRaw(port);
      client.send(`GET /llms-full.txt HTTP/1.1\r\nHost: x\r\n${proxyHeader}\r\n`);
      client.socket.destroy();
    }
    expect(await isAlive()).toBe(true);
  });

  test('connections beyond the limit are closed, and connections within the limit are served', async () => {
    await using limited = await startApp({ environment, limits: { maxConnections: 3 } });
    const limitedPort = Number(
      new URL(await limited.app.listen({ host: '127.0.0.1', port: 0 })).port,
    );
    const clients = await Promise.all([1, 2, 3].map(() => connectRaw(limitedPort)));
    const extraClient = await connectRaw(limitedPort);
    expect(await extraClient.answer).toBe('');
    const [firstClient] = clients;
    firstClient?.send(`GET /health HTTP/1.1\r\nHost: x\r\n${proxyHeader}Connection: close\r\n\r\n`);
    expect(await firstClient?.answer).toMatch(/^HTTP\/1\.1 200 /);
    for (const { socket } of clients) socket.destroy();
    const countConnections = () =>
      new Promise((resolve) =>
        limited.app.server.getConnections((_error, count) => resolve(count)),
      );
    await expect.poll(countConnections).toBe(0);
    const laterClient = await connectRaw(limitedPort);
    laterClient.send(`GET /health HTTP/1.1\r\nHost: x\r\n${proxyHeader}Connection: close\r\n\r\n`);
    expect(await laterClient.answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});
