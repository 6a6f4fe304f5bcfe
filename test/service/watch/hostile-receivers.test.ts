import { expect, test } from 'vitest';
import { parseAllowHosts } from '../../../src/scanner/guard/origin.ts';
import type { ProbeClient } from '../../../src/scanner/probe/client/client.ts';
import { postWebhook } from '../../../src/service/watch/deliveries.ts';
import { withRealClient } from '../turns/turn-clients.ts';
import { replyStatus, startReceiver } from './receiver.ts';

const REQUEST = { body: '{"type":"watch.test","data":{}}', headers: { 'webhook-id': 'msg_1' } };

/** Posts a delivery with a client that may reach these hosts. */
function post(url: string, hosts: readonly string[], options: object = {}) {
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(hosts.join(',')) };
  return withRealClient({ policy, userAgent: 'test', ...options }, (client) =>
    postWebhook({ url, ...REQUEST }, client, policy),
  );
}

test('a delivery does not follow a redirect, and its result is the status of the redirect', async () => {
  await using redirectTarget = await startReceiver();
  await using receiver = await startReceiver(replyStatus(307, { location: redirectTarget.url }));
  const outcome = await post(receiver.url, [receiver.host, redirectTarget.host]);
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
  const outcome = await post('https://hooks.example.com/x', [], { resolver, connect });
  expect(outcome.status).toBeNull();
  expect(dialledAddresses).toEqual([]);
  expect(privateReceiver.received).toEqual([]);
});

test('a delivery to a silent receiver ends at its time limit, which is 15 s', async () => {
  await using receiver = await startReceiver(() => new Promise(() => undefined));
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(receiver.host) };
  const limitsMs: (number | undefined)[] = [];
  const outcome = await withRealClient({ policy, userAgent: 'test' }, (client) => {
    const hasty: Pick<ProbeClient, 'request'> = {
      request(request) {
        limitsMs.push(request.timeoutMs);
        return client.request({ ...request, timeoutMs: 500 });
      },
    };
    return postWebhook({ url: receiver.url, ...REQUEST }, hasty, policy);
  });
  expect(outcome.status).toBeNull();
  expect(limitsMs).toEqual([15_000]);
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
  const outcome = await post(receiver.url, [receiver.host]);
  expect(outcome.status).toBe(200);
  expect(outcome.body.length).toBe(65_536);
});
