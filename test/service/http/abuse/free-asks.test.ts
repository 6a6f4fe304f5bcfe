/** All free calls that send requests to origins, by route or by tool, share one queue. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import 'tldts';
import { expect, test } from 'vitest';
import { toPreflight } from '../../../../src/scanner/preflight/result.ts';
import type { AskSeller } from '../../../../src/service/turns/run-preflight.ts';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { openFakeClient } from '../../turns/turn-clients.ts';
import { startSelling } from '../routes/paid/selling.ts';

type FakeNetwork = {
  /** The address to which a host resolves. */
  addressOf(host: string): string;
};

/** Records the hosts that the service dials, and replaces the clock by one that only the test moves. */
function startFakeNetwork({ addressOf }: FakeNetwork) {
  const dialled: string[] = [];
  let clockMoved = Promise.withResolvers<void>();
  const openClient = openFakeClient({
    addressOf: (host) => ({ address: addressOf(host), family: 4 }),
    answer({ origin }) {
      dialled.push(origin.host);
      return 'nothing of ours';
    },
  });
  const askSeller: AskSeller = async ({ origin, path }, client) => {
    await client.request({ origin, method: 'GET', path, capBytes: 1, redirects: 'none' });
    return toPreflight([]);
  };
  return {
    dialled,
    options: { askSeller, openClient, wait: () => clockMoved.promise },
    async advance(service: TestApp, ms: number): Promise<void> {
      for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += 50) {
        service.advance(50);
        clockMoved.resolve();
        clockMoved = Promise.withResolvers<void>();
        await runPendingTurns();
      }
    },
  };
}

async function runPendingTurns(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await nextTurn();
}

const preflight = (service: TestApp, url: string) => service.post('/v1/preflight', { url });

const preflightTool = (service: TestApp, url: string) =>
  service.post(
    '/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'preflight', arguments: { url } },
    },
    { accept: 'application/json, text/event-stream' },
  );

const confirm = async (service: TestApp, url: string) => {
  await service.post('/v1/verify/start', { url });
  return service.post('/v1/verify/confirm', { url });
};

test.each([
  ['names of one address', (n: number) => `https://shop${n}.dev`],
  ['names of one domain', (n: number) => `https://n${n}.victim.dev`],
])(
  '%s get at most two connections a second from all preflights, tools and confirms together',
  async (_case, url) => {
    const isOneDomain = url(0).includes('victim');
    const network = startFakeNetwork({
      addressOf: (host) => (isOneDomain ? `198.51.${host.charCodeAt(1)}.7` : '198.51.100.7'),
    });
    await using service = await startApp(network.options);
    // The first tool call loads the SDK, which takes many turns of the event loop.
    await preflightTool(service, 'https://127.0.0.1');
    const calls = [preflight, preflightTool, confirm];
    const answers = Array.from({ length: 9 }, (_value, n) => calls[n % 3]?.(service, url(n)));
    await runPendingTurns();
    expect(network.dialled).toHaveLength(2);
    await network.advance(service, 1_000);
    expect(network.dialled).toHaveLength(4);
    await network.advance(service, 3_000);
    const bodies = (await Promise.all(answers)).map((answer) => answer?.body ?? '');
    expect(bodies.filter((body) => body.includes('not_asked')).length).toBeGreaterThan(0);
    // A confirm is never refused. It waits for its turn.
    expect(bodies.filter((body) => body.includes('"mismatch"'))).toHaveLength(3);
    const notAskedCount = bodies.filter((body) => body.includes('not_asked')).length;
    expect(network.dialled).toHaveLength(9 - notAskedCount);
  },
);

test('free requests open one connection a second while a paid scan runs', async () => {
  const network = startFakeNetwork({ addressOf: (host) => `198.51.${host.charCodeAt(4)}.7` });
  const scanEnd = Promise.withResolvers<void>();
  await using sellingApp = await startSelling('0.3.0', network.options);
  const { app } = sellingApp;
  app.scanner.will('honest.dev', { grade: 'A', until: scanEnd.promise });
  const paidScan = sellingApp.scan('https://honest.dev', await sellingApp.header(50_000n));
  await expect.poll(() => app.scanner.scannedHosts).toEqual(['honest.dev']);
  const freeCalls = Array.from({ length: 12 }, (_value, n) =>
    preflight(app, `https://shop${n}.dev`),
  );
  await runPendingTurns();
  expect(network.dialled).toHaveLength(1);
  await network.advance(app, 1_100);
  expect(network.dialled.length).toBeLessThanOrEqual(2);
  await Promise.all(freeCalls);
  scanEnd.resolve();
  expect((await paidScan).json()).toMatchObject({ grade: 'A', charged: true });
});
