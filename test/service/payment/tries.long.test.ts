import { randomUUID } from 'node:crypto';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toPaymentKey } from '../../../src/service/payment/terms.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { newPayer, type SignedHeader, TERMS, toHeaders } from './payer.ts';
import { createItemAnswer, type Shop, startShop } from './shop.ts';
import { findFullScans, measureStoreCost } from './store-meter.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const { sign } = payer;
const HOUR_MS = 3_600_000;

/** A shop whose facilitator says that every wallet is empty. */
async function startPennilessShop(options: Parameters<typeof startShop>[0] = {}) {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'insufficient_funds' };
  return {
    facilitator,
    shop: await startShop({
      facilitator,
      isRateLimited: false,
      timing: { sweepIntervalMs: HOUR_MS },
      ...options,
    }),
  };
}

async function countRows(shop: Shop, { nonce }: SignedHeader): Promise<number> {
  const key = toPaymentKey(TERMS, { from: payer.address, nonce });
  return (await shop.store.ledger.findAllSteps(key)).length;
}

test('a payment key can be claimed twenty times; then the error tells its payer to sign again', async () => {
  let nowMs = Date.now();
  const { shop } = await startPennilessShop({ clock: () => nowMs });
  await using _closing = shop;
  const signed = await sign({ nowMs, validBefore: BigInt(Math.floor(nowMs / 1000) + 7_200) });
  for (let n = 1; n <= 20; n++) expect((await shop.buy('x', toHeaders(signed))).status).toBe(402);
  const answer = await shop.buy('x', toHeaders(signed));
  expect(answer).toMatchObject({ status: 429, json: { error: 'too_many_tries', charged: false } });
  expect(answer.json['message']).toMatch(/Sign a new payment now/);
  expect(await countRows(shop, signed)).toBe(40);
  // After the time in Retry-After the purge has deleted the claims.
  nowMs += Number(answer.headers.get('retry-after')) * 1000;
  await shop.store.purge(nowMs);
  expect((await shop.buy('x', toHeaders(signed))).status).toBe(402);
});

test('claims that ended by our fault do not count as tries', async () => {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'unavailable', reason: 'it is down' };
  await using shop = await startShop({ facilitator });
  const signed = await sign({ identifier: 'order_0123456789abcdef' });
  for (let n = 1; n <= 25; n++) expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
  for (let n = 1; n <= 9; n++) {
    const other = await sign({ identifier: 'order_0123456789abcdef' });
    expect((await shop.buy('x', toHeaders(other))).status).toBe(503);
  }
  facilitator.verdict = { kind: 'valid' };
  expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
});

test('an identifier can be linked eight times; then the error tells its payer to take a new one', async () => {
  const { shop } = await startPennilessShop();
  await using _closing = shop;
  const identifier = 'order_0123456789abcdef';
  for (let n = 1; n <= 8; n++) {
    expect((await shop.buy('x', toHeaders(await sign({ identifier })))).status).toBe(402);
  }
  const answer = await shop.buy('x', toHeaders(await sign({ identifier })));
  expect(answer).toMatchObject({ status: 429, json: { error: 'too_many_tries', charged: false } });
  expect(answer.json['message']).toMatch(/Take a new identifier now/);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(HOUR_MS / 2_000);
  const fresh = await sign({ identifier: 'order_another_89abcdef' });
  expect((await shop.buy('x', toHeaders(fresh))).status).toBe(402);
});

/** Number of calls; `npm run test:tries` makes more. */
const CALL_COUNT = Number(process.env['X402_TEST_TRIES'] ?? 400);

/** Statements and rows that a call needs from the store. */
async function measureCost(work: () => Promise<unknown>) {
  const { statements, rows } = await measureStoreCost(work);
  return { statements, rows };
}

describe('the cost of a call does not grow', { timeout: 600_000 }, () => {
  test('on a key with hundreds of calls, of which twenty got a claim and all others 429', async () => {
    const { shop } = await startPennilessShop();
    await using _closing = shop;
    const signed = await sign();
    for (let n = 1; n <= 20; n++) await shop.buy('x', toHeaders(signed));
    const earlyCost = await measureCost(() => shop.buy('x', toHeaders(signed)));
    for (let n = 21; n < CALL_COUNT; n += 20) {
      const calls = Array.from({ length: 20 }, () => shop.buy('x', toHeaders(signed)));
      const answers = await Promise.all(calls);
      expect(answers.filter(({ status }) => status !== 429)).toHaveLength(0);
    }
    expect(await measureCost(() => shop.buy('x', toHeaders(signed)))).toEqual(earlyCost);
    expect(await countRows(shop, signed)).toBe(40);
    // The call reads the key once: its last claim, and the two steps after it. It reads no mark of its answer.
    expect(earlyCost.rows).toBe(3);
  });

  test('on a key whose claims all ended by our fault', async () => {
    const facilitator = stubFacilitator();
    facilitator.verdict = { kind: 'unavailable', reason: 'it is down' };
    await using shop = await startShop({
      facilitator,
      isRateLimited: false,
      timing: { sweepIntervalMs: HOUR_MS },
    });
    const signed = await sign({ identifier: 'order_0123456789abcdef' });
    const buy = () => shop.buy('x', toHeaders(signed));
    for (let n = 1; n <= 3; n++) expect((await buy()).status).toBe(503);
    const earlyCost = await measureCost(buy);
    for (let n = 1; n <= CALL_COUNT / 4; n++) await buy();
    expect(await measureCost(buy)).toEqual(earlyCost);
    expect(await countRows(shop, signed)).toBeGreaterThan(CALL_COUNT / 2);
    facilitator.verdict = { kind: 'valid' };
    expect((await buy()).status).toBe(200);
  });

  test('with an identifier that is linked to many keys whose claims ended by our fault', async () => {
    const facilitator = stubFacilitator();
    facilitator.verdict = { kind: 'unavailable', reason: 'it is down' };
    await using shop = await startShop({
      facilitator,
      isRateLimited: false,
      timing: { sweepIntervalMs: HOUR_MS },
    });
    const buy = async () =>
      shop.buy('x', toHeaders(await sign({ identifier: 'order_0123456789abcdef' })));
    for (let n = 1; n <= 20; n++) await buy();
    const earlyCost = await measureCost(buy);
    for (let n = 1; n <= CALL_COUNT / 4; n++) await buy();
    expect(await measureCost(buy)).toEqual(earlyCost);
  });

  test('if its payer has thousands of rows and identifiers, and all queries use an index', async () => {
    const store = openSqlite(MEMORY);
    await using shop = await startShop({
      store,
      timing: { sweepIntervalMs: HOUR_MS },
      compute: async (item) => createItemAnswer(item),
    });
    const buy = async (n: number) =>
      shop.buy('popular', toHeaders(await sign({ identifier: `identifier_of_sale_${n}` })));
    await buy(1);
    const earlyCost = await measureCost(() => buy(2));
    await fillLedger(store, payer.address.toLowerCase(), 400, 10);
    await fillIdentifiers(store, payer.address.toLowerCase(), 2_000);
    const lateCost = await measureStoreCost(() => buy(3));
    expect(lateCost.statements).toBe(earlyCost.statements);
    // One more sale was settled before this call. The call reads the step of that sale, and the mark of its answer.
    expect(lateCost.rows).toBe(earlyCost.rows + 3);
    await store.close();
    using folder = mkdtempDisposableSync(join(tmpdir(), 'tries-'));
    const file = join(folder.path, 'store.db');
    await openSqlite(file).close();
    expect(findFullScans(file, lateCost.sql)).toEqual([]);
  });
});

/** Writes `keys` keys of the same request, each claimed and released `claims` times. */
async function fillLedger(
  { ledger }: Shop['store'],
  payerAddress: string,
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
        payer: payerAddress,
        request: 'work popular',
        validBeforeMs: Date.now() + HOUR_MS,
        data: {},
      });
    }
  }
}

async function fillIdentifiers(
  store: Shop['store'],
  payerAddress: string,
  links: number,
): Promise<void> {
  for (let n = 0; n < links; n++) {
    const scope = { network: TERMS.network, payer: payerAddress, id: `identifier_${n}_0000000` };
    const link = { n: 1, request: 'work popular', key: `junk ${n}`, attempt: randomUUID() };
    await store.identifiers.append(scope, link);
  }
}
