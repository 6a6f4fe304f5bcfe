import { randomUUID } from 'node:crypto';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toPaymentKey } from '../../src/payment/terms.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { newPayer, type SignedHeader, TERMS } from './payer.ts';
import { answerOf, PRICE, type Shop, startShop } from './shop.ts';
import { fullScans, storeCost } from './store-meter.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const pay = (options = {}) => payer.sign({ value: PRICE, ...options });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });
const HOUR_MS = 3_600_000;

/** A shop whose facilitator says that every wallet is empty. */
async function pennilessShop(options: Parameters<typeof startShop>[0] = {}) {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'insufficient_funds' };
  return {
    facilitator,
    shop: await startShop({
      facilitator,
      isRateLimited: false,
      sweepIntervalMs: HOUR_MS,
      ...options,
    }),
  };
}

async function rowsOf(shop: Shop, { nonce }: SignedHeader): Promise<number> {
  const key = toPaymentKey(TERMS, { from: payer.address, nonce });
  return (await shop.store.ledger.findAllSteps(key)).length;
}

test('a key can be claimed twenty times; then the error tells its payer to sign again', async () => {
  let nowMs = Date.now();
  const { shop } = await pennilessShop({ clock: () => nowMs });
  await using _closing = shop;
  const signed = await pay({ nowMs, validBefore: BigInt(Math.floor(nowMs / 1000) + 7_200) });
  for (let n = 1; n <= 20; n++) expect((await shop.buy('x', v2(signed))).status).toBe(402);
  const answer = await shop.buy('x', v2(signed));
  expect(answer.status).toBe(429);
  expect(answer.json).toMatchObject({ error: 'too_many_tries', charged: false });
  expect(answer.json['message']).toMatch(/Sign a new payment now/);
  expect(await rowsOf(shop, signed)).toBe(40);
  // After the time in Retry-After the purge has deleted the claims.
  nowMs += Number(answer.headers.get('retry-after')) * 1000;
  await shop.store.purge(nowMs);
  expect((await shop.buy('x', v2(signed))).status).toBe(402);
});

test('claims that our fault ended, or a 504, do not count', async () => {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'unavailable', reason: 'it is down' };
  await using shop = await startShop({ facilitator });
  const signed = await pay({ identifier: 'order_0123456789abcdef' });
  for (let n = 1; n <= 25; n++) expect((await shop.buy('x', v2(signed))).status).toBe(503);
  for (let n = 1; n <= 9; n++) {
    const other = await pay({ identifier: 'order_0123456789abcdef' });
    expect((await shop.buy('x', v2(other))).status).toBe(503);
  }
  facilitator.verdict = { kind: 'valid' };
  expect((await shop.buy('x', v2(signed))).status).toBe(200);
});

test('an identifier can be linked eight times; then the error tells its payer to take a new one', async () => {
  const { shop } = await pennilessShop();
  await using _closing = shop;
  const identifier = 'order_0123456789abcdef';
  for (let n = 1; n <= 8; n++) {
    expect((await shop.buy('x', v2(await pay({ identifier })))).status).toBe(402);
  }
  const answer = await shop.buy('x', v2(await pay({ identifier })));
  expect(answer.status).toBe(429);
  expect(answer.json).toMatchObject({ error: 'too_many_tries', charged: false });
  expect(answer.json['message']).toMatch(/Take a new identifier now/);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(HOUR_MS / 2_000);
  const fresh = await pay({ identifier: 'order_another_89abcdef' });
  expect((await shop.buy('x', v2(fresh))).status).toBe(402);
});

/** Number of calls; `npm run test:tries` makes more. */
const CALL_COUNT = Number(process.env['X402_TEST_TRIES'] ?? 400);

/** Statements and rows that a call needs from the store. */
async function costOf(work: () => Promise<unknown>) {
  const { statements, rows } = await storeCost(work);
  return { statements, rows };
}

describe('the cost of a call does not grow', { timeout: 600_000 }, () => {
  test('on a key of thousands of junk calls: twenty claims, the rest 429', async () => {
    const { shop } = await pennilessShop();
    await using _closing = shop;
    const signed = await pay();
    for (let n = 1; n <= 20; n++) await shop.buy('x', v2(signed));
    const early = await costOf(() => shop.buy('x', v2(signed)));
    for (let n = 21; n < CALL_COUNT; n += 20) {
      const calls = Array.from({ length: 20 }, () => shop.buy('x', v2(signed)));
      const answers = await Promise.all(calls);
      expect(answers.filter(({ status }) => status !== 429)).toHaveLength(0);
    }
    expect(await costOf(() => shop.buy('x', v2(signed)))).toEqual(early);
    expect(await rowsOf(shop, signed)).toBe(40);
    // The call reads the key once: its last claim, and the two steps after it. It reads no mark of its answer.
    expect(early.rows).toBe(3);
  });

  test('on a key of which all claims ended by our fault', async () => {
    const facilitator = stubFacilitator();
    facilitator.verdict = { kind: 'unavailable', reason: 'it is down' };
    await using shop = await startShop({
      facilitator,
      isRateLimited: false,
      sweepIntervalMs: HOUR_MS,
    });
    const signed = await pay({ identifier: 'order_0123456789abcdef' });
    const buy = () => shop.buy('x', v2(signed));
    for (let n = 1; n <= 3; n++) expect((await buy()).status).toBe(503);
    const early = await costOf(buy);
    for (let n = 1; n <= CALL_COUNT / 4; n++) await buy();
    expect(await costOf(buy)).toEqual(early);
    expect(await rowsOf(shop, signed)).toBeGreaterThan(CALL_COUNT / 2);
    facilitator.verdict = { kind: 'valid' };
    expect((await buy()).status).toBe(200);
  });

  test('with an identifier that many such keys were linked to', async () => {
    const facilitator = stubFacilitator();
    facilitator.verdict = { kind: 'unavailable', reason: 'it is down' };
    await using shop = await startShop({
      facilitator,
      isRateLimited: false,
      sweepIntervalMs: HOUR_MS,
    });
    const buy = async () => shop.buy('x', v2(await pay({ identifier: 'order_0123456789abcdef' })));
    for (let n = 1; n <= 20; n++) await buy();
    const early = await costOf(buy);
    for (let n = 1; n <= CALL_COUNT / 4; n++) await buy();
    expect(await costOf(buy)).toEqual(early);
  });

  test('among thousands of rows of its payer and of identifiers, and all searches use an index', async () => {
    const store = openSqlite(MEMORY);
    await using shop = await startShop({
      store,
      sweepIntervalMs: HOUR_MS,
      compute: async (item) => answerOf(item),
    });
    const buy = async (n: number) =>
      shop.buy('popular', v2(await pay({ identifier: `identifier_of_sale_${n}` })));
    await buy(1);
    const early = await costOf(() => buy(2));
    await fillLedger(store, payer.address.toLowerCase(), 400, 10);
    await fillIdentifiers(store, payer.address.toLowerCase(), 2_000);
    const late = await storeCost(() => buy(3));
    expect(late.statements).toBe(early.statements);
    // One more sale was settled, so the call reads its step and the mark of its answer.
    expect(late.rows).toBe(early.rows + 3);
    await store.close();
    using folder = mkdtempDisposableSync(join(tmpdir(), 'tries-'));
    const file = join(folder.path, 'store.db');
    await openSqlite(file).close();
    expect(fullScans(file, late.sql)).toEqual([]);
  });
});

/** Writes `keys` keys of the same request, each claimed and released `claims` times. */
async function fillLedger(
  { ledger }: Shop['store'],
  holder: string,
  keys: number,
  claims: number,
): Promise<void> {
  for (let key = 0; key < keys; key++) {
    for (let step = 1; step <= 2 * claims; step++) {
      await ledger.append({
        key: `junk ${key}`,
        step,
        state: step % 2 === 1 ? 'claimed' : 'released',
        attempt: randomUUID(),
        payer: holder,
        request: 'work popular',
        validBeforeMs: Date.now() + HOUR_MS,
        data: {},
      });
    }
  }
}

async function fillIdentifiers(store: Shop['store'], holder: string, links: number): Promise<void> {
  for (let n = 0; n < links; n++) {
    const scope = { network: TERMS.network, payer: holder, id: `identifier_${n}_0000000` };
    const link = { n: 1, request: 'work popular', key: `junk ${n}`, attempt: randomUUID() };
    await store.identifiers.append(scope, link);
  }
}
