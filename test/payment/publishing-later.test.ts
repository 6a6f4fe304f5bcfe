/** If a paid result cannot be published, the service tries again after longer and longer waits. Other results do not wait. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Reconciler } from '../../src/payment/ledger/reconciler.ts';
import { Recovery } from '../../src/payment/ledger/recovery.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

test('publication is tried again after 5 s, then after doubled waits, and at last every hour', async () => {
  const store = openSqlite(MEMORY);
  await using _closing = { [Symbol.asyncDispose]: () => store.close() };
  for (const scanId of ['broken', 'sound']) {
    for (const [index, state] of (
      ['claimed', 'computed', 'settling', 'settled'] as const
    ).entries()) {
      await store.ledger.append({
        key: scanId,
        step: index + 1,
        state,
        attempt: randomUUID(),
        payer: '0xpayer',
        request: `scan ${scanId}`,
        validBeforeMs: Date.now(),
        scanId,
        data: {},
      });
    }
  }
  let nowMs = 0;
  const attemptsMs: number[] = [];
  let isBroken = true;
  const publish = new Map([
    [
      'scan',
      async (scanId: string) => {
        if (scanId === 'sound') return;
        attemptsMs.push(nowMs);
        if (isBroken) throw new Error('no room');
      },
    ],
  ]);
  const facilitator = stubFacilitator();
  const now = () => store.now();
  const { ledger } = store;
  const options = { facilitator, evidence: null, now, findOffer: () => null, ledger, publish };
  const errorMessages: string[] = [];
  const recovery = new Recovery({
    store,
    reconciler: new Reconciler(options),
    publish,
    isInFlight: () => false,
    onError: (message) => errorMessages.push(message),
    elapsedMs: () => nowMs,
  });
  const stateOf = async (key: string) => (await ledger.findEntry(key))?.last.state;

  await recovery.sweep();
  expect(await stateOf('sound')).toBe('published');
  for (; nowMs < 5 * HOUR_MS; nowMs += 2.5 * SECOND_MS) {
    // In most sweeps the broken result is not due yet, but the recovery still counts it.
    if (nowMs % HOUR_MS === 2.5 * SECOND_MS)
      expect(recovery.counts.byState).toMatchObject({ settled: 1 });
    await recovery.sweep();
  }
  const waitsSec = attemptsMs
    .slice(1)
    .map((atMs, index) => (atMs - (attemptsMs[index] ?? 0)) / SECOND_MS);
  expect(waitsSec.slice(0, 10)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560]);
  expect(new Set(waitsSec.slice(10))).toEqual(new Set([3_600]));
  expect(errorMessages).toHaveLength(attemptsMs.length);

  isBroken = false;
  nowMs += HOUR_MS;
  await recovery.sweep();
  expect(await stateOf('broken')).toBe('published');
  await recovery.sweep();
  expect(recovery.counts.byState).toEqual({});
});
