/** A confirm waits for a fetch of the verification file. Fetches of one host are shared, and begin 10 s apart. */
// The queue imports this package on first use. That import would take longer than `runPending` waits.
import 'tldts';
import { expect, test } from 'vitest';
import { type Origin, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { ScannerFailed } from '../../../src/service/errors/errors.ts';
import { createTokenReader } from '../../../src/service/ownership/token-reader.ts';
import { createVerification } from '../../../src/service/ownership/verification.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { type Client, toClient } from '../../../src/service/turns/client-key.ts';
import { createOriginTurns } from '../../../src/service/turns/origin-turns.ts';
import { ManualClock, runPending } from '../turns/manual-clock.ts';
import { openFakeClient } from '../turns/turn-clients.ts';

const ORIGIN = parseOrigin('https://shop.example.com', {
  allowedPorts: [443],
  allowHosts: new Set(),
});
const OWNER = toClient('198.51.100.7');
const OTHER_OWNER = toClient('192.0.2.44');
const STRANGER = toClient('203.0.113.9');
const SPACING_MS = 10_000;

type Fetch = {
  readonly host: string;
  answer(text: string, handshakeMs?: number): void;
  fail(error: Error, handshakeMs?: number): void;
};

/** Starts one token reader per instance on one store. Each fetch ends when the test answers or fails it. */
function startReading(instances = 1) {
  const clock = new ManualClock();
  const store: Store = openSqlite(MEMORY, { clock: clock.now });
  const stopping = new AbortController();
  const fetches: Fetch[] = [];
  function openRecordingClient() {
    let spentMs = 0;
    return openFakeClient({
      handshakeMs: () => spentMs,
      answer({ origin: { host } }) {
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        const answer = (text: string, handshakeMs = 0) => {
          spentMs = handshakeMs;
          resolve(text);
        };
        const fail = (error: Error, handshakeMs = 0) => {
          spentMs = handshakeMs;
          reject(error);
        };
        fetches.push({ host, answer, fail });
        return promise;
      },
    });
  }
  const readers = Array.from({ length: instances }, () =>
    createTokenReader({
      store,
      stopping: stopping.signal,
      wait: clock.wait,
      turns: createOriginTurns({
        ...{ now: clock.now, countPaidScans: () => 0, wait: clock.wait },
        openClient: (...args) => openRecordingClient()(...args),
      }),
    }),
  );
  const verifications = readers.map((readToken) => createVerification({ store, readToken }));
  const [verification] = verifications;
  const [reader] = readers;
  if (verification === undefined || reader === undefined) throw new Error('no reader');
  return {
    clock,
    store,
    fetches,
    stopping,
    read: (origin: Origin, caller: Client) => reader(origin, caller, () => false),
    verification,
    verifications,
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** Work without sockets is done after 20 turns of the event loop. */
test('all waiting callers share one fetch, which counts as one failure of each client', async () => {
  await using reading = startReading();
  const { store, fetches, verification, clock } = reading;
  await verification.start(ORIGIN, OWNER);
  const clients = [...Array(12).fill(STRANGER), ...Array(4).fill(OWNER)];
  const confirms = clients.map((client) => verification.confirm(ORIGIN, client));
  await runPending();
  expect(fetches).toHaveLength(1);
  fetches[0]?.answer('wrong');
  for (const confirmation of await Promise.all(confirms)) {
    expect(confirmation).toMatchObject({ verified: false, reason: 'mismatch' });
  }
  for (const { key: client } of [STRANGER, OWNER]) {
    const failed = await store.ownership.countFailedConfirms({ host: ORIGIN.host, client });
    expect(failed.used).toBe(1);
  }
  expect(clock.sleepers).toBe(0);
});

test('a caller who comes during a fetch waits for the next fetch, which begins 10 s after the running fetch began', async () => {
  await using reading = startReading();
  const { fetches, verification, clock } = reading;
  const { token } = await verification.start(ORIGIN, OWNER);
  const earlyConfirm = verification.confirm(ORIGIN, OWNER);
  await runPending();
  const lateConfirms = [
    verification.confirm(ORIGIN, OWNER),
    verification.confirm(ORIGIN, STRANGER),
  ];
  await runPending();
  fetches[0]?.answer('not yet');
  expect(await earlyConfirm).toMatchObject({ verified: false });

  clock.advance(SPACING_MS - 1);
  await runPending();
  expect(fetches).toHaveLength(1);
  clock.advance(1);
  await runPending();
  expect(fetches).toHaveLength(2);
  fetches[1]?.answer(token);
  for (const confirmation of await Promise.all(lateConfirms))
    expect(confirmation.verified).toBe(true);
});

test('hosts do not wait for each other, but at most 8 are fetched at once', async () => {
  await using reading = startReading();
  const { fetches, read } = reading;
  const hosts = Array.from({ length: 10 }, (_value, n) => `shop${n}.dev`);
  for (const host of hosts) {
    const origin = parseOrigin(host, { allowedPorts: [443], allowHosts: new Set() });
    void read(origin, OWNER);
  }
  await runPending();
  expect(fetches.map(({ host }) => host)).toEqual(hosts.slice(0, 8));
  fetches[3]?.answer('done');
  await runPending();
  expect(fetches.map(({ host }) => host)).toEqual(hosts.slice(0, 9));
  for (const fetch of fetches) fetch.answer('done');
  await runPending();
  expect(fetches).toHaveLength(10);
});

test('a client whose hosts cost a second of handshakes waits behind other clients', async () => {
  await using reading = startReading();
  const { fetches } = reading;
  const read = (name: string, client: typeof OWNER) => {
    const origin = parseOrigin(`${name}.dev`, {
      allowedPorts: [443],
      allowHosts: new Set(),
    });
    void reading.read(origin, client);
    return runPending();
  };
  await read('costly', STRANGER);
  fetches[0]?.answer('a token', 1_000);
  for (let n = 0; n < 8; n += 1) await read(`busy${n}`, OWNER);
  await read('more', STRANGER);
  await read('late', OWNER);
  expect(fetches).toHaveLength(9);
  fetches[1]?.answer('a token');
  await runPending();
  expect(fetches.at(-1)?.host).toBe('late.dev');
  for (const fetch of fetches) fetch.answer('a token');
  await runPending();
  expect(fetches.at(-1)?.host).toBe('more.dev');
});

test('a caller whose token was found by a fetch of the last 10 s is answered at once', async () => {
  await using reading = startReading(2);
  const { fetches, verifications, clock } = reading;
  const [instance, otherInstance] = verifications;
  if (instance === undefined || otherInstance === undefined)
    throw new Error('two instances are needed');
  const { token } = await instance.start(ORIGIN, OWNER);
  await instance.start(ORIGIN, OTHER_OWNER);
  const strangerConfirm = instance.confirm(ORIGIN, STRANGER);
  await runPending();
  const ownerConfirm = instance.confirm(ORIGIN, OWNER);
  await runPending();
  fetches[0]?.answer(token);
  expect((await strangerConfirm).verified).toBe(true);
  expect((await ownerConfirm).verified).toBe(true);
  clock.advance(SPACING_MS - 1);
  expect((await otherInstance.confirm(ORIGIN, OWNER)).verified).toBe(true);
  expect(fetches).toHaveLength(1);

  // The last fetch found another owner's token, so OTHER_OWNER needs a new fetch.
  const otherOwnerConfirm = otherInstance.confirm(ORIGIN, OTHER_OWNER);
  await runPending();
  clock.advance(1);
  await runPending();
  expect(fetches).toHaveLength(2);
  fetches[1]?.answer('not yet');
  expect(await otherOwnerConfirm).toMatchObject({ verified: false, reason: 'mismatch' });
});

test('a fetch that began before a confirm does not count as a failure of that confirm', async () => {
  await using reading = startReading();
  const { store, fetches, verification, clock } = reading;
  await verification.start(ORIGIN, OWNER);
  const strangerConfirm = verification.confirm(ORIGIN, STRANGER);
  await runPending();
  clock.advance(1);
  const ownerConfirm = verification.confirm(ORIGIN, OWNER);
  fetches[0]?.answer('not yet');
  expect((await strangerConfirm).verified).toBe(false);
  await runPending();
  const hostAndClient = { host: ORIGIN.host, client: OWNER.key };
  expect((await store.ownership.countFailedConfirms(hostAndClient)).used).toBe(0);
  clock.advance(SPACING_MS);
  await runPending();
  fetches[1]?.answer('not yet');
  expect((await ownerConfirm).verified).toBe(false);
  expect((await store.ownership.countFailedConfirms(hostAndClient)).used).toBe(1);
});

test('instances on one store fetch a host 10 s apart and share the tokens that they find', async () => {
  await using reading = startReading(2);
  const { fetches, verifications, clock } = reading;
  const [instance, otherInstance] = verifications;
  if (instance === undefined || otherInstance === undefined)
    throw new Error('two instances are needed');
  const { token } = await instance.start(ORIGIN, OWNER);
  const firstConfirm = instance.confirm(ORIGIN, OWNER);
  await runPending();
  clock.advance(1);
  // From here on, both callers wait for the next fetch.
  const secondConfirm = instance.confirm(ORIGIN, OWNER);
  const thirdConfirm = otherInstance.confirm(ORIGIN, STRANGER);
  await runPending();
  expect(fetches).toHaveLength(1);
  fetches[0]?.answer('not yet');
  expect((await firstConfirm).verified).toBe(false);

  clock.advance(SPACING_MS);
  // One instance begins the fetch. The other instance must wait another 10 s.
  await expect.poll(() => clock.sleepers).toBe(1);
  expect(fetches).toHaveLength(2);
  fetches[1]?.answer(token);
  expect((await Promise.race([secondConfirm, thirdConfirm])).verified).toBe(true);
  clock.advance(SPACING_MS);
  expect((await secondConfirm).verified).toBe(true);
  expect((await thirdConfirm).verified).toBe(true);
  expect(fetches).toHaveLength(2);
});

test('a failure of the scanner itself rejects all waiting callers, and the next caller gets a new fetch', async () => {
  await using reading = startReading();
  const { fetches, read, clock } = reading;
  const reads = [read(ORIGIN, OWNER), read(ORIGIN, STRANGER)];
  const outcomes = Promise.allSettled(reads);
  await runPending();
  fetches[0]?.fail(new ScannerFailed(new Error('the resolver is down')));
  for (const outcome of await outcomes) expect(outcome.status).toBe('rejected');
  const nextRead = read(ORIGIN, OWNER);
  await runPending();
  clock.advance(SPACING_MS);
  await runPending();
  fetches[1]?.answer('a token');
  expect((await nextRead).finding.kind).toBe('served');
});

test('a client that disconnected before its request causes no fetch', async () => {
  await using reading = startReading();
  const { fetches, read } = reading;
  const abandonedRead = read(ORIGIN, { ...STRANGER, disconnect: AbortSignal.abort() });
  await expect(abandonedRead).rejects.toMatchObject({ code: 'saturated' });
  await runPending();
  expect(fetches).toHaveLength(0);
});

test('a client that disconnects while it waits causes no fetch', async () => {
  await using reading = startReading();
  const { fetches, read, clock } = reading;
  const disconnecting = new AbortController();
  void read(ORIGIN, OWNER);
  await runPending();
  const abandonedRead = read(ORIGIN, { ...STRANGER, disconnect: disconnecting.signal });
  await runPending();
  disconnecting.abort();
  await expect(abandonedRead).rejects.toMatchObject({ code: 'saturated' });
  clock.advance(SPACING_MS);
  await runPending();
  expect(fetches).toHaveLength(1);
  fetches[0]?.answer('a token');

  // The next caller does not wait behind the disconnected one.
  const nextRead = read(ORIGIN, OWNER);
  await runPending();
  expect(fetches).toHaveLength(2);
  fetches[1]?.answer('a token');
  expect((await nextRead).finding.kind).toBe('served');
});

test('a client that disconnects while its fetch waits for a turn is rejected at once, and causes no fetch', async () => {
  await using reading = startReading();
  const { fetches, read } = reading;
  for (let n = 0; n < 8; n += 1) void read(parseOrigin(`busy${n}.dev`), OWNER);
  await runPending();
  const disconnecting = new AbortController();
  const abandonedRead = read(ORIGIN, { ...STRANGER, disconnect: disconnecting.signal });
  await runPending();
  disconnecting.abort();
  await expect(abandonedRead).rejects.toMatchObject({ code: 'saturated' });
  for (const fetch of fetches) fetch.answer('a token');
  await runPending();
  expect(fetches).toHaveLength(8);
});

test('a stopping service rejects callers whose fetch has not begun, and ends the running fetch', async () => {
  await using reading = startReading();
  const { fetches, read, stopping } = reading;
  const runningRead = read(ORIGIN, OWNER);
  await runPending();
  const waitingRead = read(ORIGIN, STRANGER);
  await runPending();
  stopping.abort();
  await expect(waitingRead).rejects.toMatchObject({ code: 'saturated', retryAfterSec: 10 });
  fetches[0]?.answer('a token');
  expect((await runningRead).finding.kind).toBe('served');
  expect(fetches).toHaveLength(1);
});
