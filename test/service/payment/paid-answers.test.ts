import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScannerFailed } from '../../../src/service/errors/errors.ts';
import { toPaymentKey } from '../../../src/service/payment/terms.ts';
import { newPayer, PRICE, type SignedHeader, TERMS, toHeaders } from './payer.ts';
import { createItemAnswer, newLatch, type Shop, startGatedShop, startShop } from './shop.ts';

const payer = newPayer();
const { sign } = payer;

describe('a paid answer', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop();
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  test('is charged once, names its transaction, and is published', async () => {
    const signed = await sign();
    const answer = await shop.buy('first', toHeaders(signed));
    expect(answer.status).toBe(200);
    expect(answer.body).toBe((createItemAnswer('first') as { body: string }).body);
    expect(answer.paid).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: 'eip155:8453',
      payer: payer.address,
    });
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(answer.headers.get('x-payment-response')).toBeNull();
    expect(shop.settlements.map(({ value }) => value)).toEqual([PRICE]);
    expect(shop.published).toEqual(['scan-of-first']);
  });

  test('leaves its signature in only one row of the ledger, the claim', async () => {
    const signed = await sign();
    await shop.buy('kept once', toHeaders(signed));
    const key = toPaymentKey(TERMS, { from: payer.address, nonce: signed.nonce });
    const rows = await shop.store.ledger.findAllSteps(key);
    const hasSignature = ({ data }: (typeof rows)[number]) => 'payment' in data;
    expect(rows.filter(hasSignature).map(({ state }) => state)).toEqual(['claimed']);
    expect(rows).toHaveLength(5);
  });

  test('is redelivered byte for byte to the same header, without a second charge', async () => {
    const signed = await sign();
    const firstAnswer = await shop.buy('again', toHeaders(signed));
    const chargesBefore = shop.settlements.length;
    const computationsBefore = shop.computations.length;
    const secondAnswer = await shop.buy('again', toHeaders(signed));
    expect(secondAnswer.status).toBe(200);
    expect(secondAnswer.body).toBe(firstAnswer.body);
    expect(secondAnswer.headers.get('x-redelivered')).toBe('1');
    expect(secondAnswer.paid).toEqual(firstAnswer.paid);
    expect(shop.settlements).toHaveLength(chargesBefore);
    expect(shop.computations).toHaveLength(computationsBefore);
  });

  test('is redelivered to the same payment in an X-PAYMENT header', async () => {
    const signed = await sign();
    const firstAnswer = await shop.buy('spelling', toHeaders(signed));
    const secondAnswer = await shop.buy('spelling', { 'x-payment': signed.v1 });
    expect(secondAnswer.status).toBe(200);
    expect(secondAnswer.body).toBe(firstAnswer.body);
    expect(secondAnswer.headers.get('x-redelivered')).toBe('1');
    expect(secondAnswer.headers.get('x-payment-response')).toBe(
      secondAnswer.headers.get('payment-response'),
    );
  });

  test('to a call with only X-PAYMENT states the settlement in the headers of both versions', async () => {
    const answer = await shop.buy('legacy', { 'x-payment': (await sign()).v1 });
    expect(answer.status).toBe(200);
    expect(answer.paid?.success).toBe(true);
    expect(answer.headers.get('x-payment-response')).toBe(answer.headers.get('payment-response'));
  });

  test('of several megabytes is stored whole, and streamed to a retry', async () => {
    const signed = await sign();
    const firstAnswer = await shop.get('/list?n=3000', toHeaders(signed));
    expect(firstAnswer.status).toBe(200);
    expect(firstAnswer.body).toHaveLength(3_000_004);
    expect(firstAnswer.headers.get('content-length')).toBe('3000004');
    const secondAnswer = await shop.get('/list?n=3000', toHeaders(signed));
    expect(secondAnswer.headers.get('x-redelivered')).toBe('1');
    expect(secondAnswer.body === firstAnswer.body).toBe(true);
  });
});

test('a header that is sent five times at once gives one computation, one charge, and the same answer five times', async () => {
  await using shop = await startGatedShop();
  const signed = await sign();
  const calls = Array.from({ length: 5 }, () => shop.buy('five', toHeaders(signed)));
  await expect.poll(() => shop.computations.length).toBe(1);
  shop.finishWork();
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(new Set(answers.map(({ paid }) => paid?.transaction)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('x-redelivered') === null)).toHaveLength(1);
  expect(shop.computations).toHaveLength(1);
  expect(shop.settlements).toHaveLength(1);
});

test('all calls that wait with the same header get the error of the first call', async () => {
  const latch = newLatch();
  await using shop = await startShop({
    compute: async () => {
      await latch.opened;
      throw new ScannerFailed(new Error('broken'));
    },
  });
  const signed = await sign();
  const calls = Array.from({ length: 3 }, () => shop.buy('broken', toHeaders(signed)));
  await expect.poll(() => shop.computations.length).toBe(1);
  latch.open();
  for (const answer of await Promise.all(calls)) {
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'scanner_failed', charged: false });
  }
  expect(shop.settlements).toHaveLength(0);
});

describe('one payment buys one request:', () => {
  let shop: Shop;
  let signed: SignedHeader;
  beforeAll(async () => {
    shop = await startShop();
    signed = await sign();
    expect((await shop.buy('mine', toHeaders(signed))).status).toBe(200);
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  test.each([
    ['input', 'request', () => shop.buy('other', toHeaders(signed))],
    ['route', 'route', () => shop.get('/list', toHeaders(signed))],
  ])(
    'another %s is a conflict that shows no part of the answer',
    async (_name, field, callAgain) => {
      const answer = await callAgain();
      const json = { error: 'payment_conflict', field, charged: true };
      expect(answer).toMatchObject({ status: 409, json });
      expect(answer.body).not.toContain('mine');
    },
  );

  test.each([
    ['value', { value: PRICE * 2n }],
    ['to', { to: '0x3333333333333333333333333333333333333333' as const }],
    ['validAfter', { validAfter: 5n }],
    ['validBefore', { validBefore: BigInt(Math.floor(Date.now() / 1000) + 3_600) }],
  ])(
    'the same nonce with another %s is a conflict that names this field',
    async (field, options) => {
      const answer = await shop.buy(
        'mine',
        toHeaders(await sign({ nonce: signed.nonce, ...options })),
      );
      expect(answer).toMatchObject({ status: 409, json: { error: 'payment_conflict', field } });
    },
  );

  test.each([
    ['invalid input', '{"item":7}', 'application/json', 400],
    ['a body that is not JSON', '{"item":', 'application/json', 400],
    ['a body of another type', '<item/>', 'application/xml', 415],
  ])(
    '%s is refused, and the answer says that the payment was charged',
    async (_name, body, type, status) => {
      const headers = { ...toHeaders(signed), 'content-type': type };
      const chargesBefore = await shop.buy('', headers, { body });
      expect(chargesBefore).toMatchObject({ status, json: { charged: true } });
      const freshHeaders = { ...toHeaders(await sign()), 'content-type': type };
      expect((await shop.buy('', freshHeaders, { body })).json).toMatchObject({
        charged: false,
      });
    },
  );

  test("another payer's signature does not open the answer", async () => {
    const thief = newPayer();
    const stolen = await sign({ nonce: signed.nonce, signAs: thief.privateKey });
    const answer = await shop.buy('mine', toHeaders(stolen));
    expect(answer.status).toBe(402);
    expect(answer.json['error']).toMatch(/^invalid_signature: /);
  });

  test('the stored answer still opens to its payer', async () => {
    expect((await shop.buy('mine', toHeaders(signed))).headers.get('x-redelivered')).toBe('1');
    expect(shop.settlements).toHaveLength(1);
  });
});

const DAY_MS = 24 * 3_600_000;

describe('24 hours after its settlement, an answer', () => {
  async function startSoldShop(options: Parameters<typeof startShop>[0] = {}) {
    const time = { nowMs: Date.now() };
    const shop = await startShop({ clock: () => time.nowMs, ...options });
    const signNow = (extra = {}) => sign({ nowMs: time.nowMs, ...extra });
    const identifierOption = { identifier: 'order_0123456789abcdef' };
    const signed = await signNow(identifierOption);
    expect((await shop.buy('old', toHeaders(signed))).status).toBe(200);
    return {
      shop,
      time,
      signNow,
      identifierOption,
      signed,
      [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
    };
  }

  describe.each([
    ['that was not yet purged', false],
    ['that was purged', true],
  ])('%s', (_name, isPurged) => {
    test.each([
      ['public', true],
      ['private', false],
    ])('and is %s is refused, and its payment buys nothing more', async (_kind, isPublic) => {
      await using sold = await startSoldShop({ isPublic });
      const { shop, time, signed } = sold;
      time.nowMs += DAY_MS - 1;
      if (isPurged) await shop.store.purge(time.nowMs);
      expect((await shop.buy('old', toHeaders(signed))).status).toBe(200);
      time.nowMs += 1;
      if (isPurged) await shop.store.purge(time.nowMs);
      const answer = await shop.buy('old', toHeaders(signed));
      expect(answer.status).toBe(410);
      expect(answer.json).toMatchObject({ error: 'answer_expired', charged: true });
      expect(shop.settlements).toHaveLength(1);
    });

    test('is refused to a fresh authorization with its identifier, which is not charged', async () => {
      await using sold = await startSoldShop();
      const { shop, time, signNow, identifierOption } = sold;
      time.nowMs += DAY_MS;
      if (isPurged) await shop.store.purge(time.nowMs);
      const answer = await shop.buy('old', toHeaders(await signNow(identifierOption)));
      expect(answer.status).toBe(410);
      expect(answer.json).toMatchObject({ error: 'answer_expired', charged: false });
      expect(
        (await shop.buy('old', toHeaders(await signNow()))).headers.get('x-redelivered'),
      ).toBeNull();
      expect(shop.settlements).toHaveLength(2);
    });
  });
});

test('ten payers who buy the same item are each charged once and get an answer', async () => {
  await using shop = await startShop();
  const payers = Array.from({ length: 10 }, () => newPayer());
  const answers = await Promise.all(
    payers.map(async (buyer) => shop.buy('popular', toHeaders(await buyer.sign()))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(new Set(shop.settlements.map(({ payer: from }) => from)).size).toBe(10);
  expect(answers.map(({ paid }) => paid?.payer)).toEqual(payers.map(({ address }) => address));
});
