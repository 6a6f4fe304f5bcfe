/** The queue of free requests orders them, and limits how many run at once and how often one server is asked. */
// The queue imports this package at its first request. Under a manual clock, the package must be loaded earlier.
import 'tldts';
import { expect, test } from 'vitest';
import type { Address } from '../../../src/scanner/guard/name-servers.ts';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { enterTurn, type Turn, type TurnRequest } from '../../../src/service/turns/origin-turns.ts';
import { TurnQueue } from '../../../src/service/turns/turn-queue.ts';
import { ManualClock, runPending } from './manual-clock.ts';

const HOUR_MS = 3_600_000;

/** Starts a queue. With `countPaidScans: 1`, requests run one at a time, so tests see their order. */
function startTurns(countPaidScans = 0) {
  const clock = new ManualClock();
  const state = { countPaidScans };
  const queue = new TurnQueue({
    now: clock.now,
    wait: clock.wait,
    countPaidScans: () => state.countPaidScans,
  });
  const enteredNames: string[] = [];
  const refusedNames: string[] = [];
  const running: Turn[] = [];
  const dials: { readonly name: string; readonly atMs: number }[] = [];
  const beganAtMs = clock.now();
  const enter = async (
    host: string,
    block: string | Set<string>,
    withinMs?: number,
    options: Partial<TurnRequest> = {},
  ) => {
    const origin = parseOrigin(host);
    const blocks = typeof block === 'string' ? new Set([block]) : block;
    const wait = withinMs ? { withinMs } : {};
    const turn = await enterTurn(queue, { origin, blocks, ...wait, ...options });
    (turn === null ? refusedNames : enteredNames).push(host.split('.')[0] ?? '');
    if (turn !== null) running.push(turn);
    return turn;
  };
  return {
    clock,
    state,
    queue,
    enteredNames,
    refusedNames,
    running,
    dials,
    enter: (...call: Parameters<typeof enter>) => void enter(...call),
    /** Enters the queue, waits until it may connect to `address`, records the time, and leaves the queue. */
    async dial(
      host: string,
      block: string,
      address: string,
      withinMs?: number,
      options: Partial<TurnRequest> = {},
    ): Promise<void> {
      const turn = await enter(host, block, withinMs, options);
      const addresses: Address[] = [{ address, family: address.includes(':') ? 6 : 4 }];
      if (turn === null || !(await turn.moveOn(addresses))) return;
      dials.push({ name: host, atMs: clock.now() - beganAtMs });
      turn.end(0);
    },
    async endNext(handshakeMs = 0): Promise<void> {
      await runPending();
      running.shift()?.end(handshakeMs);
      await runPending();
    },
    async advance(ms: number): Promise<void> {
      for (let passedMs = 0; passedMs < ms; passedMs += 50) {
        await runPending();
        clock.advance(50);
      }
      await runPending();
    },
  };
}

test('after one request, a client block with many requests waits behind a block with one request', async () => {
  const { enter, endNext, enteredNames } = startTurns(1);
  for (const n of [1, 2, 3, 4]) enter(`flood${n}.dev`, 'flood');
  enter('owner.dev', 'home');
  for (let n = 0; n < 5; n += 1) await endNext();
  expect(enteredNames).toEqual(['flood1', 'owner', 'flood2', 'flood3', 'flood4']);
});

test('a block that spent a second on handshakes within the hour goes behind all others', async () => {
  const { enter, endNext, enteredNames, clock } = startTurns(1);
  enter('costly1.dev', 'hostile');
  await endNext(999);
  enter('a.dev', 'home');
  enter('b.dev', 'home');
  enter('costly2.dev', 'hostile');
  await endNext();
  await endNext(1);
  for (const name of ['c.dev', 'd.dev']) enter(name, 'home');
  enter('costly3.dev', 'hostile');
  for (let n = 0; n < 4; n += 1) await endNext();
  expect(enteredNames).toEqual(['costly1', 'a', 'costly2', 'b', 'c', 'd', 'costly3']);

  clock.advance(HOUR_MS);
  enter('e.dev', 'home');
  enter('f.dev', 'home');
  enter('forgiven.dev', 'hostile');
  for (let n = 0; n < 3; n += 1) await endNext();
  expect(enteredNames.slice(-3)).toEqual(['e', 'forgiven', 'f']);
});

test('a request that several blocks wait for has the best rank of these blocks', async () => {
  const { enter, endNext, enteredNames } = startTurns(1);
  enter('first.dev', 'hostile');
  await endNext(5_000);
  enter('running.dev', 'home');
  enter('others.dev', 'home');
  const waitingBlocks = new Set(['hostile']);
  enter('shared.dev', waitingBlocks);
  waitingBlocks.add('office');
  for (let n = 0; n < 3; n += 1) await endNext();
  expect(enteredNames).toEqual(['first', 'running', 'shared', 'others']);
});

test('eight requests run at once, and a waiting caller is refused when the time that it can wait has passed', async () => {
  const { enter, enteredNames, refusedNames, running, advance, queue } = startTurns();
  for (let n = 0; n < 10; n += 1) enter(`shop${n}.dev`, `block ${n}`);
  enter('hasty.dev', 'block', 1_000);
  await runPending();
  expect(enteredNames).toHaveLength(8);
  await advance(1_000);
  expect(refusedNames).toEqual([]);
  await advance(50);
  expect(refusedNames).toEqual(['hasty']);
  running[0]?.end(0);
  await runPending();
  expect(enteredNames).toHaveLength(9);
  queue.stop();
  await runPending();
  expect(refusedNames).toEqual(['hasty', 'shop9']);
});

test('64 callers may wait, and the next caller is refused at once if it cannot wait long', async () => {
  const { enter, refusedNames, queue } = startTurns();
  for (let n = 0; n < 72; n += 1) enter(`shop${n}.dev`, 'block', 1_000);
  await runPending();
  expect(refusedNames).toEqual([]);
  enter('late.dev', 'other', 1_000);
  await runPending();
  expect(refusedNames).toEqual(['late']);
  queue.stop();
});

test('a registrable domain gets at most two connections a second, however many names it has', async () => {
  const { dial, dials, advance } = startTurns();
  for (let n = 0; n < 6; n += 1) {
    void dial(`shop${n}.victim.co.uk`, `block ${n}`, `198.51.${100 + n}.1`);
  }
  await advance(2_000);
  const times = dials.map(({ atMs }) => atMs);
  expect(times).toEqual([0, 0, 1_000, 1_000, 2_000, 2_000]);
});

test('the customers of a hosting domain do not count as one domain', async () => {
  const { dial, dials } = startTurns();
  for (let n = 0; n < 6; n += 1) {
    void dial(`shop${n}.vercel.app`, `block ${n}`, `198.51.${100 + n}.1`);
  }
  await runPending();
  expect(dials).toHaveLength(6);
});

test.each([
  ['a /24', (n: number) => `198.51.100.${n}`],
  ['a /48', (n: number) => `2001:db8:1:${n}::1`],
])(
  '%s gets at most two connections a second, however many domains lead there',
  async (_network, createAddress) => {
    const { dial, dials, advance, refusedNames } = startTurns();
    for (let n = 0; n < 6; n += 1) void dial(`shop${n}.dev`, `block ${n}`, createAddress(n));
    void dial('elsewhere.dev', 'home', '203.0.113.1');
    await runPending();
    // A request that waits for its server does not take a turn from requests to other servers.
    expect(dials.map(({ name }) => name)).toEqual(['shop0.dev', 'shop1.dev', 'elsewhere.dev']);
    await advance(2_000);
    expect(dials.map(({ atMs }) => atMs)).toEqual([0, 0, 0, 1_000, 1_000, 2_000, 2_000]);
    expect(refusedNames).toEqual([]);
  },
);

test('a caller that would wait over a second for the server is refused, and its request is not sent', async () => {
  const { dial, dials, advance } = startTurns();
  const calls = Array.from({ length: 6 }, (_value, n) =>
    dial(`shop${n}.dev`, `block ${n}`, '198.51.100.7', 1_000),
  );
  await advance(1_100);
  await Promise.all(calls);
  expect(dials).toHaveLength(4);
});

test('while a scan runs, free requests open one connection a second, and after the scan all of them continue', async () => {
  const { dial, dials, advance, state } = startTurns(1);
  for (let n = 0; n < 12; n += 1) {
    void dial(`shop${n}.dev`, `block ${n}`, `198.51.${100 + n}.1`);
  }
  await advance(2_950);
  expect(dials.map(({ atMs }) => atMs)).toEqual([0, 1_000, 2_000]);
  state.countPaidScans = 0;
  await advance(50);
  expect(dials).toHaveLength(12);
});

test('each further request of a turn waits until its network and its domain may be asked again', async () => {
  const { clock, queue, advance } = startTurns();
  const origin = parseOrigin('https://docs.shop.dev');
  const turn = await enterTurn(queue, { origin, blocks: new Set(['a']), withinMs: 1_000 });
  const beganAtMs = clock.now();
  const admittedAtMs: number[] = [];
  const ask = async (address: string) => {
    const admitted = await turn?.moveOn([{ address, family: 4 }]);
    if (admitted === true) admittedAtMs.push(clock.now() - beganAtMs);
  };
  await ask('203.0.113.7');
  await ask('198.51.100.7');
  const thirdRequest = ask('192.0.2.7');
  await advance(1_000);
  await thirdRequest;
  // The first two requests use both requests of the domain in this second.
  expect(admittedAtMs).toEqual([0, 0, 1_000]);
  turn?.end(0);
});

test.each([
  ['call', 8, 1],
  ['look', 16, 4],
  ['webhook', 64, 8],
] as const)(
  '%s: %i requests run at once, %i during a scan, and other kinds of requests take none of these turns',
  async (kind, atOnce, duringScan) => {
    const { enter, enteredNames, running, state } = startTurns();
    const otherKinds = (['call', 'look', 'webhook'] as const).filter((other) => other !== kind);
    for (const otherKind of otherKinds) {
      for (let n = 0; n < 70; n += 1) {
        enter(`${otherKind}${n}.dev`, `block ${n}`, undefined, { kind: otherKind });
      }
    }
    await runPending();
    enteredNames.length = 0;
    running.length = 0;
    for (let n = 0; n < 70; n += 1) enter(`shop${n}.dev`, `block ${n}`, undefined, { kind });
    await runPending();
    expect(enteredNames).toHaveLength(atOnce);
    // A scan begins. No waiting request begins until fewer than `duringScan` requests run.
    state.countPaidScans = 1;
    for (const turn of running.slice(0, atOnce - duringScan)) turn.end(0);
    await runPending();
    expect(enteredNames).toHaveLength(atOnce);
    running[atOnce - duringScan]?.end(0);
    await runPending();
    expect(enteredNames).toHaveLength(atOnce + 1);
  },
);

test('webhooks of one domain that cost a second of handshakes go last, whichever block requested the webhooks', async () => {
  const { enter, endNext, enteredNames, dial, dials, advance } = startTurns(1);
  const webhookTo = (domain: string) => ({ kind: 'webhook', domain }) as const;
  enter('first.dev', 'block 1', undefined, webhookTo('hostile.com'));
  await endNext(1_000);
  for (let n = 0; n < 8; n += 1) enter(`busy${n}.dev`, 'home', undefined, webhookTo('honest.com'));
  enter('costly.dev', 'block 2', undefined, webhookTo('hostile.com'));
  enter('late.dev', 'home', undefined, webhookTo('honest.com'));
  for (let n = 0; n < 3; n += 1) await endNext();
  expect(enteredNames.slice(9)).toEqual(['late', 'costly']);

  // During a scan, webhooks to hostile.com open one connection a second. The others open theirs at once.
  for (let n = 0; n < 6; n += 1) await endNext();
  for (let n = 0; n < 3; n += 1) {
    void dial(`a${n}.dev`, `block ${n}`, `198.51.${n}.1`, undefined, webhookTo('hostile.com'));
    void dial(`b${n}.dev`, 'home', `203.0.${n}.1`, undefined, webhookTo('honest.com'));
  }
  await advance(2_000);
  const times = (letter: string) =>
    dials.filter(({ name }) => name.startsWith(letter)).map(({ atMs }) => atMs);
  expect(times('b')).toEqual([0, 0, 0]);
  expect(times('a')).toEqual([0, 1_000, 2_000]);
});

test('urgent looks go first, unless their block spent a second on handshakes', async () => {
  const { enter, endNext, enteredNames } = startTurns(1);
  const kind = 'look';
  enter('costly.dev', 'hostile', undefined, { kind });
  await endNext(1_000);
  for (let n = 0; n < 4; n += 1) enter(`busy${n}.dev`, 'home', undefined, { kind });
  enter('costly-urgent.dev', 'hostile', undefined, { kind, isUrgent: true });
  enter('plain.dev', 'new', undefined, { kind });
  enter('urgent.dev', 'home', undefined, { kind, isUrgent: true });
  for (let n = 0; n < 3; n += 1) await endNext();
  expect(enteredNames.slice(5)).toEqual(['urgent', 'plain', 'costly-urgent']);
});
