/** The client of a turn waits before each request, and its handshakes are charged however the work ends. */
// The queue imports this package at its first request. Under a manual clock, the package must be loaded earlier.
import 'tldts';
import { expect, test } from 'vitest';
import type { Address } from '../../../src/scanner/guard/name-servers.ts';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import {
  createOriginTurns,
  LimitReached,
  NoTurn,
  type TurnClient,
} from '../../../src/service/turns/origin-turns.ts';
import { ManualClock, runPending } from './manual-clock.ts';
import { type FakeNetwork, openFakeClient } from './turn-clients.ts';

const ORIGIN = parseOrigin('shop.dev');
const REQUEST = {
  origin: ORIGIN,
  method: 'GET',
  path: '/',
  capBytes: 1,
  redirects: 'none',
} as const;

/** While a scan runs, one turn runs at a time, so tests see the order of turns. */
function startTurns(network: FakeNetwork = {}, countPaidScans = 1) {
  const clock = new ManualClock();
  const turns = createOriginTurns({
    ...{ now: clock.now, wait: clock.wait, countPaidScans: () => countPaidScans },
    openClient: openFakeClient(network),
  });
  return {
    turns,
    clock,
    ask: (host: string, block: string, work: (client: TurnClient) => Promise<unknown>) =>
      turns.ask({ origin: parseOrigin(host), blocks: new Set([block]), withinMs: 1_000 }, work),
    async advance(ms: number): Promise<void> {
      for (let passedMs = 0; passedMs < ms; passedMs += 50) {
        await runPending();
        clock.advance(50);
      }
      await runPending();
    },
  };
}

test.each<readonly [string, (client: TurnClient) => Promise<unknown>]>([
  ['ends', async () => null],
  ['throws', () => Promise.reject(new Error('a fault of ours'))],
  ['waits too long for its request', (client) => client.admit()],
])('work that %s is charged for its handshakes, and its turn ends', async (_case, work) => {
  let handshakeMs = 1_000;
  const { ask, advance } = startTurns({ handshakeMs: () => handshakeMs });
  const running = Promise.withResolvers<null>();
  const costly = ask('costly.dev', 'hostile', work).catch(() => null);
  void ask('running.dev', 'home', () => running.promise);
  await advance(1_050);
  await costly;
  handshakeMs = 0;
  const hosts: string[] = [];
  const asks = [
    ask('more.dev', 'hostile', async () => hosts.push('more.dev')),
    ask('home.dev', 'home', async () => hosts.push('home.dev')),
  ];
  await runPending();
  running.resolve(null);
  await Promise.all(asks);
  expect(hosts).toEqual(['home.dev', 'more.dev']);
});

test('a client that cannot be opened frees its turn', async () => {
  const clock = new ManualClock();
  const turns = createOriginTurns({
    ...{ now: clock.now, wait: clock.wait, countPaidScans: () => 1 },
    openClient: () => Promise.reject(new Error('The service stops.')),
  });
  for (const block of ['first', 'second']) {
    const asking = turns.ask({ origin: ORIGIN, blocks: new Set([block]) }, async () => null);
    await expect(asking).rejects.toThrow('The service stops.');
  }
});

test('each request waits until its network may be asked again', async () => {
  const sentAtMs: number[] = [];
  const { clock, turns, advance } = startTurns(
    {
      addressOf: () => ({ address: '203.0.113.7', family: 4 }),
      answer() {
        sentAtMs.push(clock.now());
        return 'text';
      },
    },
    0,
  );
  const beganAtMs = clock.now();
  const asking = turns.ask({ origin: ORIGIN, blocks: new Set(['a']) }, async (client) => {
    for (let n = 0; n < 3; n += 1) await client.request(REQUEST);
  });
  await advance(1_000);
  await asking;
  expect(sentAtMs.map((atMs) => atMs - beganAtMs)).toEqual([0, 0, 1_000]);
});

test('a request to another origin than that of the turn waits for the network of the other origin', async () => {
  const admitted: string[] = [];
  const { turns } = startTurns({
    addressOf: (host) => ({
      address: host === 'shop.dev' ? '203.0.113.7' : '198.51.100.7',
      family: 4,
    }),
  });
  const beforeConnect = async (addresses: readonly Address[]) =>
    void admitted.push(...addresses.map(({ address }) => address));
  await turns.ask({ origin: ORIGIN, blocks: new Set(['a']), beforeConnect }, (client) =>
    client.request({ ...REQUEST, origin: parseOrigin('other.dev') }),
  );
  expect(admitted).toEqual(['198.51.100.7']);
});

test('no request is sent if `beforeConnect` throws, and none after the turns have stopped', async () => {
  const sentPaths: string[] = [];
  const { turns } = startTurns({
    answer: ({ path }) => {
      sentPaths.push(path);
      return 'text';
    },
  });
  const beforeConnect = () => Promise.reject(new LimitReached());
  const request = { origin: ORIGIN, blocks: new Set(['a']), beforeConnect };
  await expect(turns.ask(request, (client) => client.request(REQUEST))).rejects.toThrow(
    LimitReached,
  );
  const stopped = turns.ask({ ...request, beforeConnect: async () => {} }, async (client) => {
    turns.stop();
    await client.request(REQUEST);
  });
  await expect(stopped).rejects.toThrow(NoTurn);
  await expect(turns.ask(request, async () => null)).rejects.toThrow(NoTurn);
  expect(sentPaths).toEqual([]);
});
