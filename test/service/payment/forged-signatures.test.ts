/** The gate asks the facilitator only about signatures that a contract may have made. */
import { describe, expect, test } from 'vitest';
import type { Facilitator } from '../../../src/service/payment/settle/facilitator.ts';
import { newPayer, type SignedHeader, signAsContract } from './payer.ts';
import { startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';
import { type NodeAnswer, RpcError, startStubNode } from './stub-node.ts';

const payer = newPayer();

/** Starts a shop whose node answers `eth_getCode` with `readPayerCode()` for payers, and with code for the token. */
async function startShopWithNode(readPayerCode: () => unknown, facilitator: Facilitator) {
  let isTokenRequest = true;
  const getCode: NodeAnswer = () => {
    // The service checks the code of the token first, when it starts.
    const code = isTokenRequest ? '0x01' : readPayerCode();
    isTokenRequest = false;
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

function signAsStranger(): Promise<SignedHeader> {
  return payer.sign({ signAs: newPayer().privateKey });
}

const createRefusingFacilitator = () => {
  const facilitator = stubFacilitator();
  facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
  return facilitator;
};

describe('a signature of 65 bytes that the payer did not make', () => {
  test('is refused without the facilitator if the payer is not a contract, however often it is sent', async () => {
    const facilitator = createRefusingFacilitator();
    await using setup = await startShopWithNode(() => '0x', facilitator);
    for (let n = 0; n < 70; n++) {
      const { header } = await signAsStranger();
      const answer = await setup.shop.buy('x', { 'payment-signature': header });
      expect(answer.status).toBe(402);
      expect(answer.json['error']).toMatch(/^invalid_signature: .*payload.authorization.from/);
    }
    expect(facilitator.verified).toHaveLength(0);
  });

  test.each<[string, () => unknown]>([
    ['a contract', () => '0x6001'],
    ['an account that delegates to a contract (EIP-7702)', () => `0xef0100${'11'.repeat(20)}`],
    [
      'unknown, because the node fails',
      () => {
        throw new RpcError(-32_005, 'limit exceeded');
      },
    ],
  ])('is sent to the facilitator if the payer is %s', async (_name, readPayerCode) => {
    const facilitator = createRefusingFacilitator();
    await using setup = await startShopWithNode(readPayerCode, facilitator);
    const { header } = await signAsStranger();
    const refusal = await setup.shop.buy('x', { 'payment-signature': header });
    expect(refusal.json['error']).toMatch(/^invalid_signature: /);
    expect(facilitator.verified).toHaveLength(1);
    facilitator.verdict = { kind: 'valid' };
    expect((await setup.shop.buy('x', { 'payment-signature': header })).status).toBe(200);
  });

  test('causes at most 600 look-ups at the node a minute, and then at most 60 facilitator requests', async () => {
    const facilitator = createRefusingFacilitator();
    await using setup = await startShopWithNode(() => '0x', facilitator);
    const { header } = await signAsStranger();
    const statuses: number[] = [];
    for (let n = 0; n < 70; n++) {
      const calls = Array.from({ length: 10 }, () =>
        setup.shop.buy('x', { 'payment-signature': header }),
      );
      statuses.push(...(await Promise.all(calls)).map(({ status }) => status));
    }
    const lookups = setup.node.requestedMethods.filter((method) => method === 'eth_getCode').length;
    expect(lookups).toBeGreaterThanOrEqual(600);
    // The limiter's bucket refills while the test sends its calls.
    expect(
      lookups + facilitator.verified.length + statuses.filter((status) => status === 503).length,
    ).toBe(701);
  });
});

test('a signature of another length is sent to the facilitator, also if no contract is deployed yet', async () => {
  const facilitator = stubFacilitator();
  await using setup = await startShopWithNode(() => '0x', facilitator);
  const { header } = await signAsContract(await signAsStranger());
  expect((await setup.shop.buy('x', { 'payment-signature': header })).status).toBe(200);
  expect(facilitator.verified).toHaveLength(1);
  expect(setup.node.requestedMethods.filter((method) => method === 'eth_getCode')).toHaveLength(1);
});
