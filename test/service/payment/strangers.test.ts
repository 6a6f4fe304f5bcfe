import { describe, expect, test } from 'vitest';
import { encode, newPayer, type SignedHeader, toHeaders } from './payer.ts';
import { findWrittenAtMs } from './settling.ts';
import { startShop } from './shop.ts';
import { slowFacilitator, stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const { sign } = payer;
const IDENTIFIER = 'order_0123456789abcdef';
const MINUTE_MS = 60_000;

/** Starts a shop, and buys an answer that is delivered in full. `time` moves the clock of the shop. */
async function startSoldShop(options: Parameters<typeof startShop>[0], identifier?: string) {
  const time = { nowMs: Date.now() };
  const shop = await startShop({ clock: () => time.nowMs, ...options });
  const signed = await sign({ nowMs: time.nowMs, identifier });
  const firstAnswer = await shop.buy('secret', toHeaders(signed));
  expect(firstAnswer.status).toBe(200);
  await expect.poll(() => findWrittenAtMs(shop, signed)).not.toBeNull();
  return {
    shop,
    signed,
    firstAnswer,
    time,
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  };
}

/** Everybody can read a settled authorization on the chain. A stranger sends it with an identifier of their choice. */
function withIdentifier({ payload }: SignedHeader, id: string): Record<string, string> {
  const extensions = { 'payment-identifier': { info: { required: false, id } } };
  return { 'payment-signature': encode({ ...payload, extensions }) };
}

function withoutIdentifier({ payload }: SignedHeader): Record<string, string> {
  return { 'payment-signature': encode({ ...payload, extensions: undefined }) };
}

describe('ten minutes after a private answer was delivered in full', () => {
  test('a header without an identifier no longer opens the answer, and the error says that the payment was charged', async () => {
    await using sold = await startSoldShop({ isPublic: false }, IDENTIFIER);
    const { shop, signed, time, firstAnswer } = sold;
    time.nowMs += 10 * MINUTE_MS - 1_000;
    expect((await shop.buy('secret', withoutIdentifier(signed))).body).toBe(firstAnswer.body);
    time.nowMs += 1_000;
    const answer = await shop.buy('secret', withoutIdentifier(signed));
    expect(answer).toMatchObject({ status: 410, json: { error: 'answer_private', charged: true } });
    // With the identifier of its claim, the header opens the answer as long as the answer is kept.
    time.nowMs += 22 * 60 * MINUTE_MS;
    const ownAnswer = await shop.buy('secret', toHeaders(signed));
    expect(ownAnswer.status).toBe(200);
    expect(ownAnswer.body).toBe(firstAnswer.body);
    expect(shop.settlements).toHaveLength(1);
  });

  test('after eight wrong identifiers the answer stays closed, even to the right identifier', async () => {
    await using sold = await startSoldShop({ isPublic: false }, IDENTIFIER);
    const { shop, signed, time } = sold;
    time.nowMs += 10 * MINUTE_MS;
    for (let n = 1; n <= 8; n++) {
      const guessAnswer = await shop.buy('secret', withIdentifier(signed, `guess_${n}_0123456789`));
      expect(guessAnswer.status).toBe(410);
      // The right identifier in between does not count among the eight.
      if (n === 4) expect((await shop.buy('secret', toHeaders(signed))).status).toBe(200);
    }
    for (const headers of [withIdentifier(signed, 'guess_9_0123456789'), toHeaders(signed)]) {
      const answer = await shop.buy('secret', headers);
      expect(answer.status).toBe(429);
      expect(answer.json).toMatchObject({ error: 'too_many_tries', charged: true });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('of twenty guesses at once, only eight are compared with the identifier', async () => {
    await using sold = await startSoldShop({ isPublic: false }, IDENTIFIER);
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
    await using sold = await startSoldShop({ isPublic: false }, IDENTIFIER);
    const { shop, time } = sold;
    time.nowMs += 10 * MINUTE_MS;
    const freshAnswer = await shop.buy('secret', toHeaders(await sign({ nowMs: time.nowMs })));
    expect(freshAnswer.headers.get('x-redelivered')).toBeNull();
    expect(shop.settlements).toHaveLength(2);
  });

  test('if the answer is public, the header alone fetches it as long as it is kept', async () => {
    await using sold = await startSoldShop({ isPublic: true });
    const { shop, signed, time } = sold;
    time.nowMs += 23 * 60 * MINUTE_MS;
    expect((await shop.buy('secret', toHeaders(signed))).headers.get('x-redelivered')).toBe('1');
  });
});

test('a redelivery counts as delivered only if its call has the identifier of the buyer', async () => {
  const { facilitator, settle } = slowFacilitator();
  await using shop = await startShop({ facilitator, isPublic: false });
  const signed = await sign({ identifier: IDENTIFIER });
  const lostCall = shop.call('secret', toHeaders(signed));
  await expect.poll(() => facilitator.sent.length).toBe(1);
  await lostCall.hangUp();
  await expect.poll(() => shop.runningPaidCalls()).toBe(0);
  settle();
  await expect.poll(() => shop.published.length).toBe(1);
  for (let n = 1; n <= 2; n++) {
    expect((await shop.buy('secret', withoutIdentifier(signed))).status).toBe(200);
  }
  // `writtenAtMs` is stored after an answer. During this sale it would be stored for the two calls above.
  expect((await shop.buy('another', toHeaders(await sign()))).status).toBe(200);
  expect(await findWrittenAtMs(shop, signed)).toBeNull();
  expect((await shop.buy('secret', toHeaders(signed))).status).toBe(200);
  await expect.poll(() => findWrittenAtMs(shop, signed)).not.toBeNull();
});

test('signatures that we cannot check cost the facilitator at most 60 requests a minute', async () => {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
  // The clock stands still, because the count begins anew with each minute of the clock.
  const nowMs = Date.now();
  await using shop = await startShop({ facilitator, isRateLimited: false, clock: () => nowMs });
  const foreignKey = newPayer().privateKey;
  const answers = [];
  for (let n = 0; n < 65; n++) {
    answers.push(await shop.buy('x', toHeaders(await newPayer().sign({ signAs: foreignKey }))));
  }
  const refused = answers.filter(({ status }) => status === 503);
  expect(facilitator.verified.length).toBe(65 - refused.length);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.json).toMatchObject({ error: 'saturated' });
  // A payer whose signature we can check is not affected.
  facilitator.verdict = { kind: 'valid' };
  expect((await shop.buy('x', toHeaders(await sign()))).status).toBe(200);
});
