/** The gate asks the facilitator only about signatures that a contract may have made. */
import { describe, expect, test } from 'vitest';
import type { Facilitator } from '../../src/payment/settle/facilitator.ts';
import { encode, newPayer, type SignedHeader } from './payer.ts';
import { PRICE, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';
import { type NodeAnswer, RpcError, startStubNode } from './stub-node.ts';

const payer = newPayer();

/** The node answers `eth_getCode` with `codeOf()` for payers, and with code for the token. */
async function shopOn(codeOf: () => unknown, facilitator: Facilitator) {
  let isAsset = true;
  const getCode: NodeAnswer = () => {
    // The service checks the code of the token first, when it starts.
    const code = isAsset ? '0x01' : codeOf();
    isAsset = false;
    return code;
  };
  const node = await startStubNode({ eth_chainId: () => '0x2105', eth_getCode: getCode });
  const shop = await startShop({ facilitator, rpcUrl: node.rpcUrl, isRateLimited: false });
  return {
    node,
    shop,
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await node[Symbol.asyncDispose]();
    },
  };
}

function forged(): Promise<SignedHeader> {
  return payer.sign({ value: PRICE, signAs: newPayer().privateKey });
}

/** A signature that only a contract could have made. */
async function signAsContract(): Promise<SignedHeader> {
  const signed = await forged();
  const inner = signed.payload['payload'] as Record<string, unknown>;
  const payload = { ...signed.payload, payload: { ...inner, signature: `0x${'ab'.repeat(200)}` } };
  return { ...signed, payload, header: encode(payload) };
}

const refused = () => {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
  return facilitator;
};

describe('a signature of 65 bytes that the payer did not make', () => {
  test('is refused without the facilitator if the payer is not a contract, however often it is sent', async () => {
    const facilitator = refused();
    await using both = await shopOn(() => '0x', facilitator);
    for (let n = 0; n < 70; n++) {
      const { header } = await forged();
      const answer = await both.shop.buy('x', { 'payment-signature': header });
      expect(answer.status).toBe(402);
      expect(answer.json['error']).toMatch(/^invalid_signature: .*payload.authorization.from/);
    }
    expect(facilitator.verified).toHaveLength(0);
  });

  test.each<[string, () => unknown]>([
    ['a contract', () => '0x6001'],
    ['an account that delegates to a contract (EIP-7702)', () => `0xef0100${'11'.repeat(20)}`],
    [
      'nobody knows what',
      () => {
        throw new RpcError(-32_005, 'limit exceeded');
      },
    ],
  ])('is sent to the facilitator if the payer is %s', async (_name, codeOf) => {
    const facilitator = refused();
    await using both = await shopOn(codeOf, facilitator);
    const { header } = await forged();
    const first = await both.shop.buy('x', { 'payment-signature': header });
    expect(first.json['error']).toMatch(/^invalid_signature: /);
    expect(facilitator.verified).toHaveLength(1);
    facilitator.verdict = { kind: 'valid' };
    expect((await both.shop.buy('x', { 'payment-signature': header })).status).toBe(200);
  });

  test('causes at most 600 look-ups at the node a minute, and then at most 60 facilitator requests', async () => {
    const facilitator = refused();
    await using both = await shopOn(() => '0x', facilitator);
    const { header } = await forged();
    const statuses: number[] = [];
    for (let n = 0; n < 70; n++) {
      const calls = Array.from({ length: 10 }, () =>
        both.shop.buy('x', { 'payment-signature': header }),
      );
      statuses.push(...(await Promise.all(calls)).map(({ status }) => status));
    }
    const lookups = both.node.requestedMethods.filter((method) => method === 'eth_getCode').length;
    expect(lookups).toBeGreaterThanOrEqual(600);
    // The limiter's bucket refills while the test sends its calls.
    expect(
      lookups + facilitator.verified.length + statuses.filter((one) => one === 503).length,
    ).toBe(701);
  });
});

test('a signature of another length is sent to the facilitator, also if no contract is deployed yet', async () => {
  const facilitator = stubFacilitator();
  await using both = await shopOn(() => '0x', facilitator);
  const { header } = await signAsContract();
  expect((await both.shop.buy('x', { 'payment-signature': header })).status).toBe(200);
  expect(facilitator.verified).toHaveLength(1);
  expect(both.node.requestedMethods.filter((method) => method === 'eth_getCode')).toHaveLength(1);
});
