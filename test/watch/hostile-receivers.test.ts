import { expect, test } from 'vitest';
import { parseAllowHosts } from '../../src/guard/origin.ts';
import { createProbeClient } from '../../src/probe/client/client.ts';
import type { PostWebhook } from '../../src/watch/deliveries.ts';
import { createPostWebhook } from '../../src/watch/post-webhook.ts';
import { status as answers, startReceiver } from './receiver.ts';
import { startWatchedApp } from './watched-app.ts';

const TIMEOUT_MS = 1_000;
const REQUEST = { body: '{"type":"watch.test","data":{}}', headers: { 'webhook-id': 'msg_1' } };

function posting(hosts: readonly string[], more: object = {}): PostWebhook {
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(hosts.join(',')) };
  const client = { createClient: createProbeClient, userAgent: 'test', timeoutMs: TIMEOUT_MS };
  return createPostWebhook({ ...client, policy, ...more });
}

test('a redirect of a receiver is an answer, and is not followed', async () => {
  await using inner = await startReceiver();
  await using receiver = await startReceiver(answers(307, { location: inner.url }));
  const outcome = await posting([receiver.host, inner.host])(
    { url: receiver.url, ...REQUEST },
    async () => true,
  );
  expect(outcome.status).toBe(307);
  expect(inner.received).toHaveLength(0);
});

test('no delivery connects to a name that now resolves to a private address', async () => {
  await using inner = await startReceiver();
  const dialled: string[] = [];
  const resolver = {
    resolve4: async () => ['127.0.0.1'],
    resolve6: async () => [],
    lookup: async () => [],
  };
  const connect = async ({ address }: { address: string }) => {
    dialled.push(address);
    throw new Error('dialled');
  };
  const post = posting([], { resolver, connect });
  const outcome = await post({ url: 'https://hooks.example.com/x', ...REQUEST }, async () => true);
  expect(outcome.status).toBeNull();
  expect(dialled).toEqual([]);
  expect(inner.received).toEqual([]);
});

test('a delivery to a silent receiver ends at the time limit', async () => {
  await using receiver = await startReceiver(() => new Promise(() => undefined));
  const outcome = await posting([receiver.host])(
    { url: receiver.url, ...REQUEST },
    async () => true,
  );
  expect(outcome.status).toBeNull();
});

test('a delivery reads 64 KiB of an endless answer', async () => {
  await using receiver = await startReceiver((_received, response) => {
    const piece = 'x'.repeat(16_384);
    const write = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write);
    write();
  });
  const outcome = await posting([receiver.host])(
    { url: receiver.url, ...REQUEST },
    async () => true,
  );
  expect(outcome.status).toBe(200);
  expect(outcome.body.length).toBe(65_536);
});

test('a silent receiver delays no other', async () => {
  await using silent = await startReceiver(() => new Promise(() => undefined));
  await using watched = await startWatchedApp({
    alsoAllow: [silent.host],
    timeoutMs: 5_000,
  });
  await watched.prove('silent.example.org');
  const asked = await watched.watch({ url: 'silent.example.org', webhook: silent.url });
  expect(asked.status).toBe(200);
  await watched.watching.tick();
  await watched.prove();
  await watched.watch();
  const settled = watched.watching.tick();
  await expect.poll(() => watched.receiver.types()).toEqual(['watch.started']);
  // The delivery to the silent receiver still runs.
  expect(watched.events).toEqual([expect.objectContaining({ result: 'delivered' })]);
  await settled;
});
