import { describe, expect, test } from 'vitest';
import { toPaymentKey } from '../../src/payment/terms.ts';
import { newPayer, type SignedHeader, TERMS } from './payer.ts';
import { newLatch, PRICE, type Shop, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const pay = (options = {}) => payer.sign({ value: PRICE, ...options });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });
const ID = 'order_0123456789abcdef';
const MINUTE_MS = 60_000;

async function writtenAt(shop: Shop, { nonce }: SignedHeader): Promise<number | null> {
  const key = toPaymentKey(TERMS, { from: payer.address, nonce });
  return (await shop.store.ledger.findEntry(key))?.writtenAtMs ?? null;
}

/** Sells an answer, lets it be delivered in full, and moves the clock. */
async function soldShop(options: Parameters<typeof startShop>[0], identifier?: string) {
  const time = { nowMs: Date.now() };
  const shop = await startShop({ clock: () => time.nowMs, ...options });
  const signed = await pay({ nowMs: time.nowMs, identifier });
  const first = await shop.buy('secret', v2(signed));
  expect(first.status).toBe(200);
  await expect.poll(() => writtenAt(shop, signed)).not.toBeNull();
  return { shop, signed, first, time, [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose]() };
}

/** The settled header, which everybody can read on the chain, with an identifier that a stranger chose. */
function withIdentifier({ payload }: SignedHeader, id: string): Record<string, string> {
  const extensions = { 'payment-identifier': { info: { required: false, id } } };
  const json = JSON.stringify({ ...payload, extensions });
  return { 'payment-signature': Buffer.from(json).toString('base64') };
}

describe('ten minutes after a private answer was delivered in full', () => {
  test('a header without an identifier no longer opens it, and the error says that it was charged', async () => {
    await using sold = await soldShop({ isPublic: false }, ID);
    const { shop, signed, time, first } = sold;
    const header = Buffer.from(
      JSON.stringify({ ...signed.payload, extensions: undefined }),
    ).toString('base64');
    time.nowMs += 10 * MINUTE_MS - 1_000;
    expect((await shop.buy('secret', { 'payment-signature': header })).body).toBe(first.body);
    time.nowMs += 1_000;
    const answer = await shop.buy('secret', { 'payment-signature': header });
    expect(answer.status).toBe(410);
    expect(answer.json).toMatchObject({ error: 'answer_private', charged: true });
    // With the identifier of its claim, the header opens the answer as long as the answer is kept.
    time.nowMs += 22 * 60 * MINUTE_MS;
    const own = await shop.buy('secret', v2(signed));
    expect(own.status).toBe(200);
    expect(own.body).toBe(first.body);
    expect(shop.settlements).toHaveLength(1);
  });

  test('after eight wrong identifiers it opens no more, not even to the right one', async () => {
    await using sold = await soldShop({ isPublic: false }, ID);
    const { shop, signed, time } = sold;
    time.nowMs += 10 * MINUTE_MS;
    for (let n = 1; n <= 8; n++) {
      const guess = await shop.buy('secret', withIdentifier(signed, `guess_${n}_0123456789`));
      expect(guess.status).toBe(410);
      // The right identifier in between does not count among the eight.
      if (n === 4) expect((await shop.buy('secret', v2(signed))).status).toBe(200);
    }
    for (const headers of [withIdentifier(signed, 'guess_9_0123456789'), v2(signed)]) {
      const answer = await shop.buy('secret', headers);
      expect(answer.status).toBe(429);
      expect(answer.json).toMatchObject({ error: 'too_many_tries', charged: true });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('eight guesses at once count as eight', async () => {
    await using sold = await soldShop({ isPublic: false }, ID);
    const { shop, signed, time } = sold;
    time.nowMs += 10 * MINUTE_MS;
    const guesses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        shop.buy('secret', withIdentifier(signed, `guess_${n}_0123456789`)),
      ),
    );
    const statuses = guesses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 410)).toHaveLength(8);
    expect(statuses.filter((status) => status === 429)).toHaveLength(12);
  });

  test('a fresh authorization without the identifier is a new purchase', async () => {
    await using sold = await soldShop({ isPublic: false }, ID);
    const { shop, time } = sold;
    time.nowMs += 10 * MINUTE_MS;
    const fresh = await shop.buy('secret', v2(await pay({ nowMs: time.nowMs })));
    expect(fresh.headers.get('x-redelivered')).toBeNull();
    expect(shop.settlements).toHaveLength(2);
  });

  test('a header opens a freely readable answer as long as the answer is kept', async () => {
    await using sold = await soldShop({ isPublic: true });
    const { shop, signed, time } = sold;
    time.nowMs += 23 * 60 * MINUTE_MS;
    expect((await shop.buy('secret', v2(signed))).headers.get('x-redelivered')).toBe('1');
  });
});

test('a redelivery counts as delivered only if its call has the identifier of the buyer', async () => {
  const facilitator = stubFacilitator();
  const gate = newLatch();
  const [settled] = facilitator.outcomes;
  if (settled === undefined) throw new Error('the stub has no outcome');
  facilitator.outcomes = [gate.opened.then(() => settled), settled];
  await using shop = await startShop({ facilitator, isPublic: false });
  const signed = await pay({ identifier: ID });
  const abort = new AbortController();
  const lost = shop.buy('secret', v2(signed), { signal: abort.signal });
  await expect.poll(() => facilitator.sent.length).toBe(1);
  abort.abort();
  await expect(lost).rejects.toThrow();
  await expect.poll(() => shop.paidCalls()).toBe(0);
  gate.open();
  await expect.poll(() => shop.published.length).toBe(1);
  const json = JSON.stringify({ ...signed.payload, extensions: undefined });
  const bare = { 'payment-signature': Buffer.from(json).toString('base64') };
  expect((await shop.buy('secret', bare)).status).toBe(200);
  expect((await shop.buy('secret', bare)).status).toBe(200);
  // Marks are written after the answer. When the next mark is there, this one would be there too.
  expect((await shop.buy('another', v2(await pay()))).status).toBe(200);
  expect(await writtenAt(shop, signed)).toBeNull();
  expect((await shop.buy('secret', v2(signed))).status).toBe(200);
  await expect.poll(() => writtenAt(shop, signed)).not.toBeNull();
});

test('a conflict names the field, and shows no part of the bought answer', async () => {
  await using shop = await startShop();
  const signed = await pay();
  expect((await shop.buy('secret', v2(signed))).status).toBe(200);
  for (const answer of [await shop.buy('guess', v2(signed)), await shop.get('/list', v2(signed))]) {
    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({ charged: true });
    expect(answer.body).not.toContain('secret');
  }
});

test('signatures that we cannot check cost the facilitator at most 60 requests a minute', async () => {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
  await using shop = await startShop({ facilitator, isRateLimited: false });
  const junk = newPayer().privateKey;
  const answers = [];
  for (let n = 0; n < 65; n++) {
    answers.push(await shop.buy('x', v2(await newPayer().sign({ value: PRICE, signAs: junk }))));
  }
  const refused = answers.filter(({ status }) => status === 503);
  expect(facilitator.verified.length).toBe(65 - refused.length);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.json).toMatchObject({ error: 'saturated' });
  // A payer whose signature we can check is not affected.
  facilitator.verdict = { kind: 'valid' };
  expect((await shop.buy('x', v2(await pay()))).status).toBe(200);
});
