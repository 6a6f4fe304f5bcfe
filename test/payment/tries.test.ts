import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { paymentKey } from '../../src/payment/authorization.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { newPayer, type SignedHeader, TERMS } from './payer.ts';
import { answerOf, PRICE, type Shop, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const pay = (options = {}) => payer.sign({ value: PRICE, ...options });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });
const HOUR_MS = 3_600_000;

/** Its facilitator finds nothing in any wallet. */
async function pennilessShop(options: Parameters<typeof startShop>[0] = {}) {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'insufficient_funds' };
  return { facilitator, shop: await startShop({ facilitator, isRateLimited: false, ...options }) };
}

async function rowsOf(shop: Shop, { nonce }: SignedHeader): Promise<number> {
  const key = paymentKey(TERMS, { from: payer.address, nonce });
  return (await shop.store.ledger.entry(key))?.rows.length ?? 0;
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

async function medianMs(times: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < times; n++) took.push(await msOf(() => work(n)));
  return took.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

test('a key is claimed twenty times, and then its payer is told to sign anew', async () => {
  let nowMs = Date.now();
  const { shop } = await pennilessShop({ clock: () => nowMs });
  await using _closing = shop;
  const signed = await pay({ nowMs, validBefore: BigInt(Math.floor(nowMs / 1000) + 7_200) });
  for (let n = 1; n <= 20; n++) expect((await shop.buy('x', v2(signed))).status).toBe(402);
  const answer = await shop.buy('x', v2(signed));
  expect(answer.status).toBe(429);
  expect(answer.json).toMatchObject({ error: 'too_many_tries', charged: false });
  expect(answer.json['message']).toMatch(/Sign a new one now/);
  expect(await rowsOf(shop, signed)).toBe(40);
  // What Retry-After says is true: by then the purge has forgotten it.
  nowMs += Number(answer.headers.get('retry-after')) * 1000;
  await shop.store.purge(nowMs);
  expect((await shop.buy('x', v2(signed))).status).toBe(402);
});

test('claims that a fault of ours ended, or a 504, do not count', async () => {
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

test('an identifier is linked eight times, and then its payer is told to take a new one', async () => {
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

/** Long forms of these: `X402_TEST_TRIES=8000 npx vitest run test/payment/tries.test.ts`. */
const TRIES = Number(process.env['X402_TEST_TRIES'] ?? 400);

test('junk calls on one key end as twenty claims, and a call costs no more than before', async () => {
  const { shop } = await pennilessShop();
  await using _closing = shop;
  const signed = await pay();
  for (let n = 1; n <= 20; n++) await shop.buy('x', v2(signed));
  const early = await medianMs(50, () => shop.buy('x', v2(signed)));
  for (let n = 0; n < TRIES - 120; n += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.buy('x', v2(signed))));
    expect(answers.filter(({ status }) => status !== 429)).toHaveLength(0);
  }
  const late = await medianMs(50, () => shop.buy('x', v2(signed)));
  expect(await rowsOf(shop, signed)).toBe(40);
  expect(late).toBeLessThan(early * 3 + 5);
}, 300_000);

test('thousands of rows of one payer, and of identifiers, cost its next call nothing', async () => {
  const store = openSqlite(MEMORY);
  await using shop = await startShop({ store, compute: async (item) => answerOf(item) });
  const first = await medianMs(30, async () => shop.buy('popular', v2(await pay())));
  await fillLedger(store, payer.address.toLowerCase(), 400, 10);
  await fillIdentifiers(store, payer.address.toLowerCase(), 2_000);
  const later = await medianMs(30, async () => shop.buy('popular', v2(await pay())));
  expect(later).toBeLessThan(first * 3 + 10);
  await store.close();
}, 120_000);

/** So many keys of the same request, each claimed and released so many times. */
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
