/** A look-up on the chain proves whether a payment was settled, also if the node is limited, late or wrong. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createChainEvidence } from '../../../src/service/payment/chain/chain-evidence.ts';
import { createNodeRequests } from '../../../src/service/payment/chain/node-requests.ts';
import type { StoredPayment } from '../../../src/service/payment/ledger/ledger.ts';
import { newNonce, newPayer, PRICE, REQUIREMENTS, TERMS, toHeaders } from './payer.ts';
import { QUICK_TIMING } from './settling.ts';
import { startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';
import {
  blocksUntil,
  createReceipt,
  createUsedLog,
  RpcError,
  startServer,
  startStubNode,
  type UseOnChain,
  unusedChain,
} from './stub-node.ts';

const NOW_SEC = Math.floor(Date.now() / 1000);
const USED_STATE = `0x${'1'.padStart(64, '0')}`;

function createPayment(validBefore: number): StoredPayment {
  return {
    authorization: {
      from: newPayer().address,
      to: TERMS.payTo,
      value: PRICE,
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce: newNonce(),
    },
    signature: `0x${'02'.repeat(65)}`,
    requirements: REQUIREMENTS,
  };
}

function createUse(
  { authorization }: StoredPayment,
  changes: Partial<UseOnChain> = {},
): UseOnChain {
  const { from, to, nonce, value } = authorization;
  return { from, to, nonce, value, transaction: TRANSACTION, block: 999_900n, ...changes };
}

async function lookUpPayment(
  payment: StoredPayment,
  rpcUrl: string,
  transaction: `0x${string}` | null,
) {
  const evidence = createChainEvidence(createNodeRequests({ rpcUrl, timeoutMs: 5_000 }));
  return evidence.lookUp(payment, { sinceMs: (NOW_SEC - 300) * 1000, transaction });
}

describe('a look-up on the chain', () => {
  test('sends no further request if the receipt of a known transaction proves the payment', async () => {
    const payment = createPayment(NOW_SEC + 300);
    await using node = await startStubNode({
      eth_getTransactionReceipt: () => createReceipt(createUse(payment)),
    });
    const evidence = await lookUpPayment(payment, node.rpcUrl, TRANSACTION);
    expect(evidence).toEqual({ kind: 'paid', transaction: TRANSACTION });
    expect(node.requestedMethods).toEqual(['eth_getTransactionReceipt']);
  });

  test('reads a receipt of 20 MB, because a payer can pad the transaction that uses their nonce', async () => {
    const payment = createPayment(NOW_SEC + 300);
    const receipt = createReceipt(createUse(payment));
    const [paymentLog] = receipt.logs;
    const padding = Array.from({ length: 9_000 }, () => ({
      ...paymentLog,
      address: '0x1111111111111111111111111111111111111111',
      data: `0x${'00'.repeat(400)}`,
    }));
    const paddedReceipt = { ...receipt, logs: [...padding, ...receipt.logs, ...padding] };
    expect(JSON.stringify(paddedReceipt).length).toBeGreaterThan(20e6);
    await using node = await startStubNode({ eth_getTransactionReceipt: () => paddedReceipt });
    const evidence = await lookUpPayment(payment, node.rpcUrl, TRANSACTION);
    expect(evidence).toEqual({ kind: 'paid', transaction: TRANSACTION });
  });

  test('leaves the payment in doubt if the receipt is longer than any transaction can make it', async () => {
    const payment = createPayment(NOW_SEC + 300);
    const mebibyte = Buffer.alloc(1024 * 1024, ' ');
    await using node = await startServer(async (_request, response) => {
      response.on('error', () => undefined);
      while (!response.destroyed) {
        if (!response.write(mebibyte))
          await Promise.race([once(response, 'drain'), once(response, 'close')]);
      }
    });
    const evidence = createChainEvidence(
      createNodeRequests({ rpcUrl: node.url, timeoutMs: 60_000 }),
    );
    expect(await evidence.judgeTransaction(payment, TRANSACTION)).toBe('absent');
    expect(node.paths).toHaveLength(1);
  });

  test('follows no redirect of the node', async () => {
    await using target = await startServer((_request, response) => {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x2105' }));
    });
    for (const status of [301, 302, 303, 307, 308]) {
      await using node = await startServer((_request, response) => {
        response.writeHead(status, { location: target.url }).end();
      });
      const requests = createNodeRequests({ rpcUrl: node.url, timeoutMs: 5_000 });
      await expect(requests.request({ method: 'eth_chainId' })).rejects.toThrow('a redirect');
      expect(node.paths).toHaveLength(1);
    }
    expect(target.paths).toEqual([]);
  });

  test.each([1_000n, 500n, 100n, 10n])(
    'finds the transaction with a node that searches at most %d blocks a request',
    async (limit) => {
      const payment = createPayment(NOW_SEC + 300);
      const use = createUse(payment);
      await using node = await startStubNode({
        eth_getBlockByNumber: blocksUntil(() => NOW_SEC),
        eth_call: () => USED_STATE,
        eth_getLogs: ([filter]) => {
          const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
          const [from, to] = [BigInt(fromBlock), BigInt(toBlock)];
          if (to - from + 1n > limit) throw new RpcError(-32_005, `at most ${limit} blocks`);
          return use.block >= from && use.block <= to ? [createUsedLog(use)] : [];
        },
        eth_getTransactionReceipt: () => createReceipt(use),
      });
      const evidence = await lookUpPayment(payment, node.rpcUrl, null);
      expect(evidence).toEqual({ kind: 'paid', transaction: TRANSACTION });
    },
  );

  test('does not accept a transaction that used another nonce', async () => {
    const payment = createPayment(NOW_SEC + 300);
    await using node = await startStubNode({
      ...unusedChain(() => NOW_SEC),
      eth_getTransactionReceipt: () => createReceipt(createUse(payment, { nonce: newNonce() })),
    });
    const evidence = await lookUpPayment(payment, node.rpcUrl, TRANSACTION);
    expect(evidence).toMatchObject({ kind: 'unused', isFinal: false });
  });

  test.each([
    [599, false],
    [600, true],
  ])('%d s after validBefore, an unused nonce is final proof: %s', async (pastSec, isFinal) => {
    const payment = createPayment(NOW_SEC - pastSec);
    await using node = await startStubNode(unusedChain(() => NOW_SEC));
    const evidence = await lookUpPayment(payment, node.rpcUrl, null);
    expect(evidence).toEqual({ kind: 'unused', isExpired: true, isFinal, isReverted: false });
  });

  test('fails with a message that hides the key in the node address', async () => {
    await using node = await startStubNode({
      eth_getBlockByNumber: () => {
        throw new RpcError(-32_000, `upstream ${node.rpcUrl} is down`);
      },
    });
    const failure = await lookUpPayment(createPayment(NOW_SEC), node.rpcUrl, null).catch(String);
    expect(failure).not.toContain('SECRETKEY123');
  });
});

describe('a payment that can be looked up on the chain', () => {
  test('ends as unproved, not as failed, if the node shows no new block for two days', async () => {
    const payer = newPayer();
    let nowMs = Date.now();
    const facilitator = stubFacilitator();
    facilitator.outcomes = [{ kind: 'unclear', reason: 'timeout', transaction: null }];
    await using node = await startStubNode(unusedChain(() => NOW_SEC));
    await using shop = await startShop({
      timing: QUICK_TIMING,
      facilitator,
      rpcUrl: node.rpcUrl,
      clock: () => nowMs,
    });
    const headers = toHeaders(await payer.sign({ nowMs }));
    expect((await shop.buy('x', headers)).status).toBe(503);
    nowMs += 300_000 + 48 * 3_600_000 + 1_000;
    await expect
      .poll(async () => (await shop.buy('x', headers)).headers.get('x-settlement'))
      .toBe('unproved');
    expect(shop.published).toHaveLength(0);
  });
});

describe('a facilitator that reports a success', () => {
  test.each([
    ['with the transaction of another payment is not believed', false, 503],
    ['with a transaction that pays us is believed', true, 200],
  ])('%s', async (_case, isHonest, status) => {
    const payer = newPayer();
    const signed = await payer.sign();
    const nonce = isHonest ? signed.nonce : newNonce();
    const use = { from: payer.address, to: TERMS.payTo, nonce, value: PRICE, block: 999_999n };
    await using node = await startStubNode({
      ...unusedChain(),
      eth_getTransactionReceipt: () => createReceipt({ ...use, transaction: TRANSACTION }),
    });
    const facilitator = stubFacilitator();
    await using shop = await startShop({ timing: QUICK_TIMING, facilitator, rpcUrl: node.rpcUrl });
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(status);
    expect(shop.published).toHaveLength(isHonest ? 1 : 0);
  });
});

describe('a success that the facilitator reports, with a transaction that the node does not have,', () => {
  test('leaves the payment in doubt, and the payer gets no report', async () => {
    const signed = await newPayer().sign();
    await using node = await startStubNode({
      ...unusedChain(),
      eth_getTransactionReceipt: () => null,
    });
    const facilitator = stubFacilitator();
    const { rpcUrl } = node;
    await using shop = await startShop({
      timing: { ...QUICK_TIMING, receiptWithinMs: 50 },
      facilitator,
      rpcUrl,
    });
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({
      error: 'settlement_unknown',
      charged: null,
      payment: { transaction: TRANSACTION },
    });
    expect(shop.published).toHaveLength(0);
  });

  test('is believed once the node has the transaction, because a node may learn of a block late', async () => {
    const payer = newPayer();
    const signed = await payer.sign();
    const { nonce } = signed;
    const use = { from: payer.address, to: TERMS.payTo, nonce, value: PRICE, block: 999_999n };
    let receiptRequests = 0;
    await using node = await startStubNode({
      ...unusedChain(),
      eth_getTransactionReceipt: () =>
        ++receiptRequests < 3 ? null : createReceipt({ ...use, transaction: TRANSACTION }),
    });
    const facilitator = stubFacilitator();
    await using shop = await startShop({ timing: QUICK_TIMING, facilitator, rpcUrl: node.rpcUrl });
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(200);
    expect(answer.paid?.transaction).toBe(TRANSACTION);
    expect(facilitator.sent).toHaveLength(1);
  });

  test('is believed while the node does not answer, because its outage must not stop payments', async () => {
    const signed = await newPayer().sign();
    await using node = await startStubNode(unusedChain());
    const facilitator = stubFacilitator();
    await using shop = await startShop({ timing: QUICK_TIMING, facilitator, rpcUrl: node.rpcUrl });
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
  });
});

describe('when the service starts, a node', () => {
  const goodAnswers = { eth_chainId: () => '0x2105', eth_getCode: () => '0x01' };

  test.each([
    [
      'of another chain',
      { ...goodAnswers, eth_chainId: () => '0x1' },
      /RPC_URL leads to chain 1: /,
    ],
    [
      'without our token',
      { ...goodAnswers, eth_getCode: () => '0x' },
      /without a contract at 0x8335/,
    ],
  ])('%s stops the start', async (_name, answers, message) => {
    await using node = await startStubNode(answers);
    const shopStart = startShop({ facilitator: stubFacilitator(), rpcUrl: node.rpcUrl });
    await expect(shopStart).rejects.toThrow(message);
  });

  test('that does not answer makes paid calls 503 until its chain and token were checked', async () => {
    await using node = await startStubNode({});
    await using shop = await startShop({
      facilitator: stubFacilitator(),
      rpcUrl: node.rpcUrl,
      timing: { readinessRetryMs: 20 },
    });
    const refusal = await shop.buy('x');
    expect(refusal.status).toBe(503);
    expect(refusal.json['error']).toBe('payments_unavailable');
    expect(shop.troubles.length).toBeGreaterThan(0);
    Object.assign(node.answers, goodAnswers);
    await expect.poll(async () => (await shop.buy('x')).status).toBe(402);
  });
});
