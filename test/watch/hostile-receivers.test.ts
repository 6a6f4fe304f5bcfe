import { expect, test } from 'vitest';
import { parseAllowHosts } from '../../src/guard/origin.ts';
import { createProbeClient } from '../../src/probe/client/client.ts';
import type { PostWebhook } from '../../src/watch/deliveries.ts';
import { createPostWebhook } from '../../src/watch/post-webhook.ts';
import { replyStatus, startReceiver } from './receiver.ts';
import { startWatchedApp } from './watched-app.ts';

const TIMEOUT_MS = 1_000;
const REQUEST = { body: '{"type":"watch.test","data":{}}', headers: { 'webhook-id': 'msg_1' } };

/** Creates the sender of deliveries. It may reach these hosts. */
function createPost(hosts: readonly string[], options: object = {}): PostWebhook {
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(hosts.join(',')) };
  const client = { createClient: createProbeClient, userAgent: 'test', timeoutMs: TIMEOUT_MS };
  return createPostWebhook({ ...client, policy, ...options });
}

test('a delivery does not follow a redirect, and its result is the status of the redirect', async () => {
  await using redirectTarget = await startReceiver();
  await using receiver = await startReceiver(replyStatus(307, { location: redirectTarget.url }));
  const outcome = await createPost([receiver.host, redirectTarget.host])(
    { url: receiver.url, ...REQUEST },
    async () => true,
  );
  expect(outcome.status).toBe(307);
  expect(redirectTarget.received).toHaveLength(0);
});

test('no delivery connects to a name that now resolves to a private address', async () => {
  await using privateReceiver = await startReceiver();
  const dialledAddresses: string[] = [];
  const resolver = {
    resolve4: async () => ['127.0.0.1'],
    resolve6: async () => [],
    lookup: async () => [],
  };
  const connect = async ({ address }: { address: string }) => {
    dialledAddresses.push(address);
    throw new Error('dialled');
  };
  const post = createPost([], { resolver, connect });
  const outcome = await post({ url: 'https://hooks.example.com/x', ...REQUEST }, async () => true);
  expect(outcome.status).toBeNull();
  expect(dialledAddresses).toEqual([]);
  expect(privateReceiver.received).toEqual([]);
});

test('a delivery to a silent receiver ends at the time limit', async () => {
  await using receiver = await startReceiver(() => new Promise(() => undefined));
  const outcome = await createPost([receiver.host])(
    { url: receiver.url, ...REQUEST },
    async () => true,
  );
  expect(outcome.status).toBeNull();
});

test('a delivery reads only 64 KiB of an endless answer', async () => {
  await using receiver = await startReceiver((_received, response) => {
    const piece = 'x'.repeat(16_384);
    const write = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write);
    write();
  });
  const outcome = await createPost([receiver.host])(
    { url: receiver.url, ...REQUEST },
    async () => true,
  );
  expect(outcome.status).toBe(200);
  expect(outcome.body.length).toBe(65_536);
});

test('a silent receiver delays no other receiver', async () => {
  await using silent = await startReceiver(() => new Promise(() => undefined));
  await using watched = await startWatchedApp({
    alsoAllow: [silent.host],
    timeoutMs: 5_000,
  });
  await watched.proveControl('silent.example.org');
  const answer = await watched.watch({ url: 'silent.example.org', webhook: silent.url });
  expect(answer.status).toBe(200);
  await watched.watching.tick();
  await watched.proveControl();
  await watched.watch();
  const secondTick = watched.watching.tick();
  await expect.poll(() => watched.receiver.eventTypes()).toEqual(['watch.started']);
  // The delivery to the silent receiver still runs.
  expect(watched.events).toEqual([expect.objectContaining({ result: 'delivered' })]);
  await secondTick;
});
