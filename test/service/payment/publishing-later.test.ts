/** If a paid result cannot be published, the service tries again after longer and longer waits. Other results do not wait. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Reconciler } from '../../../src/service/payment/ledger/reconciler.ts';
import { Recovery } from '../../../src/service/payment/ledger/recovery.ts';
import { toPaymentTiming } from '../../../src/service/payment/timing.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { stubFacilitator } from './stub-facilitator.ts';

/** Sweeps of an hour. */
const HOUR_SWEEPS = 720;

test('publication is tried again in the next sweep, then after doubled waits, and at last every hour', async () => {
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
  let sweep = 0;
  const attempts: number[] = [];
  let isBroken = true;
  const publish = async (_request: string, scanId: string) => {
    if (scanId === 'sound') return;
    attempts.push(sweep);
    if (isBroken) throw new Error('no room');
  };
  const facilitator = stubFacilitator();
  const now = () => store.now();
  const { ledger } = store;
  const timing = toPaymentTiming();
  const options = { facilitator, evidence: null, now, findOffer: () => null, timing };
  const errorMessages: string[] = [];
  const recovery = new Recovery({
    store,
    reconciler: new Reconciler({ ...options, ledger, publish }),
    publish,
    isInFlight: () => false,
    onError: (message) => errorMessages.push(message),
    sweepIntervalMs: timing.sweepIntervalMs,
  });
  const stateOf = async (key: string) => (await ledger.findEntry(key))?.last.state;

  await recovery.sweep();
  expect(await stateOf('sound')).toBe('published');
  for (sweep = 1; sweep < 5 * HOUR_SWEEPS; sweep++) {
    await recovery.sweep();
    // In most sweeps the broken result is not due yet, but the recovery still counts it.
    expect(recovery.counts.byState).toMatchObject({ settled: 1 });
  }
  const waits = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
  expect(waits.slice(0, 10)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
  expect(waits.slice(10)).toEqual([HOUR_SWEEPS, HOUR_SWEEPS, HOUR_SWEEPS]);
  expect(errorMessages).toHaveLength(attempts.length);

  isBroken = false;
  for (let more = 0; more < HOUR_SWEEPS; more++) await recovery.sweep();
  expect(await stateOf('broken')).toBe('published');
  await recovery.sweep();
  expect(recovery.counts.byState).toEqual({});
});
