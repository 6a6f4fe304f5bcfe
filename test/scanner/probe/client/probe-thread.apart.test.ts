/** A client on its own thread gives the same answers, and does not block the serving thread. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { OriginRefused } from '../../../../src/scanner/guard/failures.ts';
import { DEFAULT_POLICY } from '../../../../src/scanner/guard/origin.ts';
import type { ProbeClient } from '../../../../src/scanner/probe/client/client.ts';
import {
  openProbeThread,
  type ProbeThread,
  ProbeThreadLost,
  type ThreadedClientOptions,
} from '../../../../src/scanner/probe/client/probe-thread.ts';
import { createTestCa } from '../../../fixtures/tls/test-ca.ts';
import { ask, dataOf, startOrigin, type TestOrigin } from './harness.ts';

let thread: ProbeThread;
const errors: unknown[] = [];

beforeAll(() => {
  thread = openProbeThread({ onError: (_, error) => errors.push(error) });
});
afterAll(async () => {
  await thread.close();
  expect(errors).toEqual([]);
});

function createClient(
  { policy }: Pick<TestOrigin, 'policy'>,
  options: Partial<ThreadedClientOptions> = {},
): ProbeClient {
  const client = thread.createClient({ policy, userAgent: 'test/1', ...options });
  onTestFinished(() => client.close());
  return client;
}

describe('a client on its own thread', () => {
  test('answers like a client on this thread', async () => {
    const target = await startOrigin((request, response) => {
      if (request.url === '/from') response.writeHead(302, { location: '/to' }).end();
      else response.writeHead(402, { 'x-a': 'ü' }).end(`${request.method} ${request.url}`);
    });
    const client = createClient(target);
    expect(dataOf(await ask(client, target)).body).toBe('GET /');
    expect(dataOf(await ask(client, target, '/', { method: 'HEAD' })).status).toBe(402);
    const posted = await ask(client, target, '/p', { method: 'POST', body: '{}' });
    expect(dataOf(posted).body).toBe('POST /p');
    const followed = dataOf(await ask(client, target, '/from', { redirects: 'same-origin' }));
    expect(followed).toMatchObject({ body: 'GET /to', redirects: [{ status: 302 }] });
    expect(client.stats()).toMatchObject({ requests: 5, sockets: expect.any(Number) });
    expect(client.stats().bytes).toBeGreaterThan(100);
  });

  test('returns long texts whole', async () => {
    const body = `é${'x'.repeat(200_000)}`;
    const target = await startOrigin((_, response) => response.end(body));
    const answer = await ask(createClient(target), target, '/', { capBytes: 300_000 });
    expect(dataOf(answer)).toMatchObject({ status: 200, body });
  });

  test('trusts the given roots', async () => {
    const ca = await createTestCa();
    const tls = await ca.issue({ hosts: ['localhost'] });
    const target = await startOrigin((_, response) => response.end('ok'), { tls });
    const trustingClient = createClient(target, { extraCa: [ca.pem] });
    expect(dataOf(await ask(trustingClient, target)).body).toBe('ok');
    expect(await ask(createClient(target), target)).toMatchObject({ reason: 'tls-unknown-issuer' });
  });

  test('keeps to the policy and the limits of its scan', async () => {
    const target = await startOrigin((_, response) => response.end('ok'), {
      host: '127.0.0.1',
    });
    const limitedClient = createClient(target, { limits: { maxRequests: 1 } });
    expect((await ask(limitedClient, target, '/1')).ok).toBe(true);
    expect(await ask(limitedClient, target, '/2')).toMatchObject({ reason: 'not-sent' });

    const strictClient = createClient({ policy: DEFAULT_POLICY });
    expect(await strictClient.resolveOrigin(target.origin)).toMatchObject({ kind: 'blocked' });
    await expect(ask(strictClient, target)).rejects.toThrow(OriginRefused);
    expect(target.requests).toHaveLength(1);
  });

  test('ends with the signal of its scan', async () => {
    const target = await startOrigin(() => {});
    const deadline = new AbortController();
    const client = createClient(target, { signal: deadline.signal });
    const pending = ask(client, target);
    await expect.poll(() => target.requests.length).toBe(1);
    deadline.abort();
    expect(await pending).toMatchObject({ ok: false, reason: 'timeout' });
    const lateClient = createClient(target, { signal: AbortSignal.abort() });
    expect(await ask(lateClient, target)).toMatchObject({ ok: false, reason: 'timeout' });
  });

  test('ends open requests when it is closed, and answers nothing after that', async () => {
    const target = await startOrigin(() => {});
    const client = createClient(target);
    const pending = ask(client, target);
    await expect.poll(() => target.requests.length).toBe(1);
    client.close();
    expect(await pending).toMatchObject({ ok: false, reason: 'timeout' });
    await expect(ask(client, target)).rejects.toThrow('closed');
  });
});

describe('a thread that ends', () => {
  test('because it was closed rejects waiting calls, and creates no further client', async () => {
    const target = await startOrigin(() => {});
    const closedThread = openProbeThread();
    const client = closedThread.createClient({ policy: target.policy, userAgent: 'test/1' });
    const pending = ask(client, target);
    await expect.poll(() => target.requests.length).toBe(1);
    await Promise.all([expect(pending).rejects.toThrow(ProbeThreadLost), closedThread.close()]);
    await expect(ask(client, target)).rejects.toThrow(ProbeThreadLost);
    expect(() => closedThread.createClient({ policy: target.policy, userAgent: 'test/1' })).toThrow(
      ProbeThreadLost,
    );
  });

  test('by itself is reported, and the next client gets a new thread', async () => {
    const messages: string[] = [];
    // The thread cannot start with so little memory.
    const smallThread = openProbeThread({
      heapMb: 8,
      onError: (message) => messages.push(message),
    });
    onTestFinished(() => smallThread.close());
    const target = await startOrigin((_, response) => response.end('ok'));
    for (const count of [1, 2]) {
      const client = smallThread.createClient({ policy: target.policy, userAgent: 'test/1' });
      await expect(ask(client, target)).rejects.toThrow(ProbeThreadLost);
      expect(messages).toHaveLength(count);
    }
  });
});

describe('a thread without a client', () => {
  test('has not started, ends after its client is closed, and starts again for the next client', async () => {
    const idleThread = openProbeThread({ idleMs: 1 });
    onTestFinished(() => idleThread.close());
    expect(idleThread.isAlive()).toBe(false);
    const target = await startOrigin((_, response) => response.end('ok'));
    for (const _ of ['first', 'after a rest']) {
      const client = idleThread.createClient({ policy: target.policy, userAgent: 'test/1' });
      expect(dataOf(await ask(client, target)).body).toBe('ok');
      expect(idleThread.isAlive()).toBe(true);
      client.close();
      await expect.poll(() => idleThread.isAlive()).toBe(false);
    }
  });

  test('still answers a call that was open when its client was closed', async () => {
    const idleThread = openProbeThread({ idleMs: 1 });
    onTestFinished(() => idleThread.close());
    const target = await startOrigin(() => {});
    const client = idleThread.createClient({ policy: target.policy, userAgent: 'test/1' });
    const pending = ask(client, target);
    await expect.poll(() => target.requests.length).toBe(1);
    client.close();
    expect(await pending).toMatchObject({ ok: false, reason: 'timeout' });
  });

  test('can be loaded ahead, and ends again if no client comes', async () => {
    const idleThread = openProbeThread({ idleMs: 1 });
    onTestFinished(() => idleThread.close());
    await idleThread.ready();
    await expect.poll(() => idleThread.isAlive()).toBe(false);
  });
});

test('the serving thread goes on while the probe thread works', async () => {
  const ca = await createTestCa();
  const tls = await ca.issue({ hosts: ['localhost'] });
  const target = await startOrigin((_, response) => response.end('z'.repeat(500_000)), { tls });
  const delay = monitorEventLoopDelay({ resolution: 10 });
  await ask(createClient(target, { extraCa: [ca.pem] }), target);
  delay.enable();
  const client = createClient(target, { extraCa: [ca.pem] });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => ask(client, target, `/${i}`)),
  );
  delay.disable();
  expect(answers.every((answer) => answer.ok)).toBe(true);
  // This test shows only that a delay was measured. `npm run test:hostile` has the bounds.
  expect(delay.count).toBeGreaterThan(0);
});
