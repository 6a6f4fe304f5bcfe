import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FacilitatorUnreachable } from '../../../src/service/payment/settle/facilitator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { StoreError } from '../../../src/service/store/store-error.ts';
import { newPayer, PRICE, type SignOptions, TERMS, toHeaders } from './payer.ts';
import { newLatch, type Shop, type ShopAnswer, startShop } from './shop.ts';
import { type StubFacilitator, stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();

function readErrorCode({ json }: ShopAnswer): string {
  return String(json['error']).split(':')[0] ?? '';
}

function readRequiredHeader({ headers }: ShopAnswer): string {
  return Buffer.from(headers.get('payment-required') ?? '', 'base64').toString();
}

describe('without a payment', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop();
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  test.each([
    ['a good body', '{"item":"x"}', 'application/json'],
    ['a bad body', '{"item":', 'application/json'],
    ['another type', 'item=x', 'text/plain'],
    ['a huge body', `{"item":"${'x'.repeat(2_000_000)}"}`, 'application/json'],
  ])('%s gets the challenge', async (_name, body, type) => {
    const answer = await shop.buy('', { 'content-type': type }, { body });
    expect(answer.status).toBe(402);
    expect(readErrorCode(answer)).toBe('payment_required');
    expect(readRequiredHeader(answer)).toBe(answer.body);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('the URL of the resource comes from the settings, not from the Host header', async () => {
    const { request } = await import('undici');
    const { headers } = await request(`${shop.url}/list`, { headers: { host: 'evil.example' } });
    const required = Buffer.from(String(headers['payment-required']), 'base64').toString();
    expect(required).toContain('https://shop.example/list');
    expect(required).not.toContain('evil');
  });

  test('HEAD on a paid GET gets the challenge, also with a payment, and nothing is settled', async () => {
    const { header } = await payer.sign();
    for (const headers of [{}, { 'payment-signature': header }]) {
      const response = await fetch(`${shop.url}/list`, { method: 'HEAD', headers });
      expect(response.status).toBe(402);
      expect(response.headers.get('payment-required')).not.toBeNull();
    }
    expect(shop.settlements).toHaveLength(0);
  });

  test.each([
    ['GET', '/work', 'POST'],
    ['PUT', '/work', 'POST'],
    ['HEAD', '/work', 'POST'],
    ['POST', '/list', 'GET, HEAD'],
    ['OPTIONS', '/list', 'GET, HEAD'],
  ])('%s %s gets 405, and Allow lists %s', async (method, path, allow) => {
    const headers = toHeaders(await payer.sign());
    const response = await fetch(shop.url + path, { method, headers });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    expect(shop.settlements).toHaveLength(0);
  });
});

describe('a payment', () => {
  let shop: Shop;
  let facilitator: StubFacilitator;
  beforeAll(async () => {
    facilitator = stubFacilitator();
    shop = await startShop({ facilitator });
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  const secondsAhead = (seconds: number) => BigInt(Math.floor(Date.now() / 1000) + seconds);
  const cases: readonly (readonly [string, () => Partial<SignOptions>, string])[] = [
    ['another scheme', () => ({ accepted: { scheme: 'upto' } }), 'wrong_scheme'],
    ['another network', () => ({ accepted: { network: 'eip155:1' } }), 'wrong_network'],
    ['another token', () => ({ accepted: { asset: TERMS.payTo } }), 'wrong_asset'],
    ['another recipient accepted', () => ({ accepted: { payTo: TERMS.asset } }), 'wrong_recipient'],
    ['another recipient signed', () => ({ to: TERMS.asset }), 'wrong_recipient'],
    ['another amount accepted', () => ({ accepted: { amount: '1' } }), 'wrong_amount'],
    ['less than the price', () => ({ value: PRICE - 1n }), 'wrong_amount'],
    ['more than the price', () => ({ value: PRICE + 1n }), 'wrong_amount'],
    ['validAfter ahead', () => ({ validAfter: secondsAhead(60) }), 'not_yet_valid'],
    ['validBefore 80 s ahead', () => ({ validBefore: secondsAhead(80) }), 'authorization_expired'],
    ['validBefore long past', () => ({ validBefore: 1n }), 'authorization_expired'],
    [
      'validBefore over a day ahead',
      () => ({ validBefore: secondsAhead(86_460) }),
      'validity_too_long',
    ],
    ['the signature of another', () => ({ signAs: newPayer().privateKey }), 'invalid_signature'],
  ];

  test.each(cases)(
    'that has %s gets a 402 that names the fault, and nothing is claimed',
    async (_name, options, code) => {
      facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
      const verifiedBefore = facilitator.verified.length;
      const answer = await shop.buy('x', toHeaders(await payer.sign({ ...options() })));
      expect(answer.status).toBe(402);
      expect(readErrorCode(answer)).toBe(code);
      expect(readRequiredHeader(answer)).toBe(answer.body);
      expect(shop.computations).toHaveLength(0);
      // Only the facilitator can tell whether a contract wallet made the signature.
      expect(facilitator.verified.length - verifiedBefore).toBe(
        code === 'invalid_signature' ? 1 : 0,
      );
      for await (const { key } of shop.store.ledger.findUnfinished())
        throw new Error(`${key} is open`);
    },
  );

  test('that is for Solana gets a 402 that names the network, although its payload has another form', async () => {
    const payload = {
      x402Version: 2,
      accepted: {
        scheme: 'exact',
        network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
        asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
        amount: String(PRICE),
        payTo: TERMS.payTo,
      },
      payload: { transaction: 'AQAB' },
    };
    const header = Buffer.from(JSON.stringify(payload)).toString('base64');
    const answer = await shop.buy('x', { 'payment-signature': header });
    expect(readErrorCode(answer)).toBe('wrong_network');
  });

  test('that is valid for 100 s is accepted for work, and for 30 s for a list', async () => {
    facilitator.verdict = { kind: 'valid' };
    const validFor100 = await payer.sign({ validBefore: secondsAhead(100) });
    expect((await shop.buy('x', { 'payment-signature': validFor100.header })).status).toBe(200);
    const validFor30 = await payer.sign({ validBefore: secondsAhead(30) });
    expect((await shop.get('/list', { 'payment-signature': validFor30.header })).status).toBe(200);
  });

  test('that differs only in members that official clients drop or fill in is accepted', async () => {
    const accepted = {
      asset: TERMS.asset.toLowerCase(),
      maxTimeoutSeconds: 7,
      extra: {},
      resource: 'x',
    };
    const { header } = await payer.sign({ accepted });
    expect((await shop.buy('y', { 'payment-signature': header })).status).toBe(200);
  });

  test('with an unreadable header gets 402, even if its input is unreadable', async () => {
    const answer = await shop.buy('', { 'payment-signature': '?' }, { body: '{' });
    expect(answer.status).toBe(402);
    expect(readErrorCode(answer)).toBe('invalid_payment');
  });

  test('with a bad signature gets 400 if its input is bad', async () => {
    const headers = toHeaders(await payer.sign({ signAs: newPayer().privateKey }));
    expect((await shop.buy('', headers, { body: '{}' })).status).toBe(400);
    expect((await shop.buy('', headers, { body: '{' })).status).toBe(400);
  });

  test('that the facilitator refuses gets a 402 with the reason, and may be used again', async () => {
    facilitator.verdict = { kind: 'invalid', reason: 'insufficient_funds' };
    const { header } = await payer.sign();
    const refusal = await shop.buy('z', { 'payment-signature': header });
    expect(refusal.status).toBe(402);
    expect(refusal.json['error']).toMatch(/^verification_failed: insufficient_funds\./);
    facilitator.verdict = { kind: 'valid' };
    expect((await shop.buy('z', { 'payment-signature': header })).status).toBe(200);
  });

  test('that the facilitator cannot verify now gets 503, uncharged, and may be used again', async () => {
    facilitator.verdict = { kind: 'unavailable', reason: 'timeout' };
    const { header } = await payer.sign();
    const answer = await shop.buy('w', { 'payment-signature': header });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'payments_unavailable', charged: false });
    expect(answer.headers.get('retry-after')).not.toBeNull();
    facilitator.verdict = { kind: 'valid' };
    expect((await shop.buy('w', { 'payment-signature': header })).status).toBe(200);
  });
});

describe('the service sends no challenge', () => {
  test('before it has reached the facilitator, and sends challenges afterwards', async () => {
    const facilitator = stubFacilitator();
    facilitator.kinds = new FacilitatorUnreachable('not yet');
    await using shop = await startShop({ facilitator, timing: { readinessRetryMs: 20 } });
    const { header } = await payer.sign();
    for (const headers of [{}, { 'payment-signature': header }]) {
      const answer = await shop.buy('x', headers);
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({ error: 'payments_unavailable', charged: false });
    }
    facilitator.kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];
    await expect.poll(async () => (await shop.buy('x')).status).toBe(402);
  });

  test('before a slow facilitator has answered, but starts without waiting for that answer', async () => {
    const facilitator = stubFacilitator();
    const facilitatorAnswers = newLatch();
    const slowFacilitator = {
      ...facilitator,
      findSupported: async () => {
        await facilitatorAnswers.opened;
        return facilitator.findSupported();
      },
    };
    await using shop = await startShop({
      facilitator: slowFacilitator,
      timing: { startWithinMs: 50 },
    });
    expect((await shop.buy('x')).status).toBe(503);
    facilitatorAnswers.open();
    await expect.poll(async () => (await shop.buy('x')).status).toBe(402);
  });

  test('if its facilitator does not accept our terms, because then it does not start', async () => {
    const facilitator = stubFacilitator();
    facilitator.kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:1' }];
    await expect(startShop({ facilitator })).rejects.toThrow(/does not take x402 version 2/);
  });

  test('while it is saturated, but still delivers bought answers', async () => {
    await using shop = await startShop();
    const usedPayment = toHeaders(await payer.sign());
    expect((await shop.buy('x', usedPayment)).status).toBe(200);
    shop.isSaturated = true;
    const newPayment = toHeaders(await payer.sign());
    for (const headers of [{}, newPayment]) {
      const answer = await shop.buy('y', headers);
      expect(answer).toMatchObject({ status: 503, json: { error: 'saturated', charged: false } });
    }
    expect((await shop.buy('x', usedPayment)).status).toBe(200);
  });

  test('while it has lost its store', async () => {
    const sqlite = openSqlite(MEMORY);
    let isStoreLost = false;
    const fail = async () => {
      throw new StoreError('unavailable', 'gone');
    };
    const store = new Proxy(sqlite, {
      get: (target, name, receiver) =>
        isStoreLost && name === 'ping' ? fail : Reflect.get(target, name, receiver),
    });
    await using shop = await startShop({ store });
    isStoreLost = true;
    const answer = await shop.buy('x');
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'store_unavailable', charged: false });
    await sqlite.close();
  });
});
