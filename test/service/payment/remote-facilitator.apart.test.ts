import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { decodePayment } from '../../../src/service/payment/gate/payment-header.ts';
import type { FacilitatorRequest } from '../../../src/service/payment/settle/facilitator.ts';
import { createRemoteFacilitator } from '../../../src/service/payment/settle/remote-facilitator.ts';
import { toPaymentTiming } from '../../../src/service/payment/timing.ts';
import { newPayer, REQUIREMENTS, TERMS } from './payer.ts';
import { startServer } from './stub-node.ts';

const FACILITATOR_URL = 'https://facilitator.example/x402';
const TRANSACTION = `0x${'ab'.repeat(32)}`;
const payer = newPayer();
const { header } = await payer.sign();
const { authorization, signature } = decodePayment({ 'payment-signature': [header] }, TERMS);
const request: FacilitatorRequest = {
  payment: { authorization, signature, requirements: REQUIREMENTS },
  offer: {
    requirements: REQUIREMENTS,
    resource: { url: 'https://shop.example/work' },
    extensions: { bazaar: {} },
  },
};

const facilitator = createRemoteFacilitator({ url: FACILITATOR_URL });
const mockFacilitator = () => nock('https://facilitator.example');

beforeAll(() => nock.disableNetConnect());
afterEach(() => nock.cleanAll());
afterAll(() => {
  nock.restore();
  nock.enableNetConnect();
});

test('the facilitator gets requests of version 2, with our own terms', async () => {
  let sentBody: Record<string, unknown> = {};
  mockFacilitator()
    .post('/x402/verify', (body) => {
      sentBody = body;
      return true;
    })
    .reply(200, { isValid: true, payer: payer.address });
  expect(await facilitator.verify(request)).toEqual({ kind: 'valid' });
  expect(sentBody).toMatchObject({
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted: REQUIREMENTS,
      resource: { url: 'https://shop.example/work' },
      extensions: { bazaar: {} },
      payload: { signature, authorization: { from: payer.address, value: '50000' } },
    },
    paymentRequirements: REQUIREMENTS,
  });
});

describe('an answer to verify is read as valid, invalid or unavailable:', () => {
  const cases: readonly (readonly [string, number, unknown, string])[] = [
    [
      'valid, for our payer in lower case',
      200,
      { isValid: true, payer: payer.address.toLowerCase() },
      'valid',
    ],
    ['valid, for another payer', 200, { isValid: true, payer: TERMS.payTo }, 'unavailable'],
    ['invalid', 200, { isValid: false, invalidReason: 'insufficient_funds' }, 'invalid'],
    [
      'invalid, by a status of 400',
      400,
      { isValid: false, invalidReason: 'invalid_payload' },
      'invalid',
    ],
    ['invalid, without a reason', 200, { isValid: false }, 'unavailable'],
    ['invalid, by a status of 500', 500, { isValid: false, invalidReason: 'x' }, 'unavailable'],
    ['a text that is not JSON', 200, 'hello', 'unavailable'],
    ['an error', 502, '<html>', 'unavailable'],
  ];
  test.each(cases)('%s', async (_name, status, body, kind) => {
    mockFacilitator()
      .post('/x402/verify')
      .reply(status, body as nock.Body);
    expect((await facilitator.verify(request)).kind).toBe(kind);
  });
});

describe('an answer to settle is read as settled, refused, unclear or another kind:', () => {
  const success = {
    success: true,
    transaction: TRANSACTION,
    network: 'eip155:8453',
    payer: payer.address,
  };
  const failure = (errorReason: string) => ({
    ...success,
    success: false,
    transaction: '',
    errorReason,
  });
  const cases: readonly (readonly [string, number, unknown, string])[] = [
    ['success', 200, success, 'settled'],
    [
      'success with null members',
      200,
      { ...success, errorReason: null, extensions: null },
      'settled',
    ],
    ['success without a network', 200, { ...success, network: undefined }, 'unclear'],
    ['insufficient funds', 200, failure('insufficient_funds'), 'refused'],
    ['insufficient funds, by a status of 402', 402, failure('insufficient_funds'), 'refused'],
    ['insufficient funds, by a status of 500', 500, failure('insufficient_funds'), 'unclear'],
    ['success, by a status of 400', 400, success, 'unclear'],
    ['a used nonce', 200, failure('invalid_exact_evm_nonce_already_used'), 'nonce_used'],
    ['unauthorized', 401, { error: 'unauthorized' }, 'unclear'],
    ['broken JSON', 200, '{', 'unclear'],
  ];
  test.each(cases)('%s', async (_name, status, body, kind) => {
    mockFacilitator()
      .post('/x402/settle')
      .reply(status, body as nock.Body);
    expect((await facilitator.settle(request)).kind).toBe(kind);
  });

  test.each([
    ['900 KB', 900_000, 'settled'],
    ['more than 1 MiB', 1024 * 1024, 'unclear'],
  ])('success with %s of padding', async (_name, bytes, kind) => {
    mockFacilitator()
      .post('/x402/settle')
      .reply(200, { ...success, extensions: { padding: 'x'.repeat(bytes) } });
    expect((await facilitator.settle(request)).kind).toBe(kind);
  });

  test('a refusal without transaction and network', async () => {
    const refusal = { success: false, errorReason: 'insufficient_funds' };
    mockFacilitator().post('/x402/settle').reply(400, refusal);
    expect((await facilitator.settle(request)).kind).toBe('refused');
  });

  test('a refused connection, as not sent', async () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    mockFacilitator().post('/x402/settle').replyWithError(refused);
    expect((await facilitator.settle(request)).kind).toBe('not_sent');
  });
});

describe('a redirect of the facilitator is not followed:', () => {
  const CASES = [301, 302, 303, 307, 308].map((status) => [status] as const);
  test.each(CASES)('%i', async (status) => {
    nock.enableNetConnect('127.0.0.1');
    await using target = await startServer((_request, response) => {
      response.end(JSON.stringify({ kinds: [], isValid: true, success: true }));
    });
    await using redirecting = await startServer((_request, response) => {
      response.writeHead(status, { location: `${target.url}/elsewhere` }).end();
    });
    const redirected = createRemoteFacilitator({ url: redirecting.url });
    const unreachable = { name: 'FacilitatorUnreachable' };
    await expect(redirected.findSupported()).rejects.toMatchObject(unreachable);
    expect((await redirected.verify(request)).kind).toBe('unavailable');
    // The facilitator has read the payment, so nobody knows if it was sent.
    expect((await redirected.settle(request)).kind).toBe('unclear');
    expect(redirecting.paths).toEqual(['/supported', '/verify', '/settle']);
    expect(target.paths).toEqual([]);
    nock.disableNetConnect();
  });
});

test('a call to a silent facilitator ends at the time limit', async () => {
  nock.enableNetConnect('127.0.0.1');
  await using silentServer = await startServer(() => {});
  const silentFacilitator = createRemoteFacilitator({
    url: silentServer.url,
    timing: { ...toPaymentTiming(), verifyTimeoutMs: 100, settleTimeoutMs: 100 },
  });
  expect((await silentFacilitator.verify(request)).kind).toBe('unavailable');
  expect((await silentFacilitator.settle(request)).kind).toBe('unclear');
  nock.disableNetConnect();
});

test('the supported kinds of a facilitator are read, and an error answer is reported as unreachable', async () => {
  const kind = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
  mockFacilitator()
    .get('/x402/supported')
    .reply(200, { kinds: [kind], extensions: [], signers: {} });
  expect(await facilitator.findSupported()).toMatchObject([kind]);
  mockFacilitator().get('/x402/supported').reply(500, 'no');
  await expect(facilitator.findSupported()).rejects.toMatchObject({
    name: 'FacilitatorUnreachable',
  });
});
