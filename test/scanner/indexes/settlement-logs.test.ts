import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findSettlementsInLogs } from '../../../src/scanner/indexes/settlement-logs.ts';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { tokenAbi } from '../../fixtures/chain/token-abi.ts';
import { needs } from '../../fixtures/needs.ts';
import { authorize, createWallet, settle, transfer } from './pay.ts';
import { requestContext, SHORT_MS } from './request-context.ts';
import { type StandIn, type StandInAnswer, startStandIn } from './stand-in.ts';

const DAY_SEC = 86_400;
const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';
const multicallAbi = parseAbi([
  'struct Call { address target; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function tryAggregate(bool requireSuccess, Call[] calls) payable returns (Result[])',
]);
const approveAbi = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
]);

const newAddress = () => privateKeyToAddress(generatePrivateKey());

describe('settlements in the logs of the chain', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let endpoint: StandIn | null = null;
  beforeAll(async () => {
    chain = await startChain();
  });
  afterEach(async () => {
    await endpoint?.close();
    endpoint = null;
  });
  afterAll(() => chain?.[Symbol.asyncDispose]());

  const lookUp = (address: Address, rpcUrl = chain.rpcUrl, timeoutMs?: number) =>
    findSettlementsInLogs({ rpcUrl, asset: chain.token }, address, requestContext(timeoutMs));

  /** Starts an endpoint that passes a call on to the chain if `answer` returns `null`. */
  async function startEndpoint(
    answer: (method: string, params: unknown[]) => StandInAnswer | null,
  ) {
    endpoint = await startStandIn(async (_url, body) => {
      const { id, method, params } = JSON.parse(body);
      const ownAnswer = answer(method, params);
      if (ownAnswer !== null) return ownAnswer;
      const reply = await fetch(chain.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
      return { json: await reply.json() };
    });
    return endpoint.url;
  }

  test('are 0 in a window of 30 days for an address without payments', async () => {
    const address = newAddress();
    expect(await lookUp(address)).toEqual({
      ok: true,
      value: { address, windowDays: 30, settlements: 0, payers: 0, lastAt: null },
    });
  });

  test('include transfers by authorization, but no plain transfers and no minted coins', async () => {
    const address = newAddress();
    const [payer, otherPayer] = [await chain.newPayer(), await chain.newPayer()];
    await chain.mint(address, 5_000n);
    await transfer(chain, address);
    await settle(chain, payer, address);
    await settle(chain, payer, address);
    await settle(chain, otherPayer, address);
    const lastAt = new Date(Number(await chain.blockTime()) * 1_000).toISOString();
    await transfer(chain, address);
    await settle(chain, payer, newAddress());
    expect(await lookUp(address)).toEqual({
      ok: true,
      value: { address, windowDays: 30, settlements: 3, payers: 2, lastAt },
    });
  });

  test('are found for an address in lower case too', async () => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    expect(await lookUp(address.toLowerCase() as Address)).toMatchObject({
      ok: true,
      value: { settlements: 1 },
    });
  });

  test('are counted for the authorizing payer in a transaction that also has plain transfers', async () => {
    const address = newAddress();
    const payer = await chain.newPayer();
    const sender = await createWallet(chain);
    await chain.mint(sender.address, 1_000_000n);
    await sender.mined(
      await sender.wallet.writeContract({
        address: chain.token,
        abi: approveAbi,
        functionName: 'approve',
        args: [MULTICALL3, 1_000_000n],
      }),
    );
    const plainTransfer = encodeFunctionData({
      abi: approveAbi,
      functionName: 'transferFrom',
      args: [sender.address, address, 1_000n],
    });
    const settlement = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferWithAuthorization',
      args: await authorize(chain, payer, address),
    });
    const call = (callData: Hex) => ({ target: chain.token, callData });
    await sender.mined(
      await sender.wallet.writeContract({
        address: MULTICALL3,
        abi: multicallAbi,
        functionName: 'tryAggregate',
        args: [true, [call(plainTransfer), call(settlement), call(plainTransfer)]],
      }),
    );
    expect(await lookUp(address)).toMatchObject({ ok: true, value: { settlements: 1, payers: 1 } });
  });

  test('are counted only in the last 30 days', async () => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    await settle(chain, await chain.newPayer(), address);
    await chain.increaseTime(20 * DAY_SEC);
    await settle(chain, await chain.newPayer(), address);
    const lastAt = new Date(Number(await chain.blockTime()) * 1_000).toISOString();
    await chain.increaseTime(11 * DAY_SEC);
    expect(await lookUp(address)).toEqual({
      ok: true,
      value: { address, windowDays: 30, settlements: 1, payers: 1, lastAt },
    });
    await chain.increaseTime(20 * DAY_SEC);
    expect(await lookUp(address)).toMatchObject({
      ok: true,
      value: { settlements: 0, lastAt: null },
    });
  });

  test('are requested in shorter block ranges if the endpoint refuses a long one', async () => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    const widths: bigint[] = [];
    const rpcUrl = await startEndpoint((method, [filter]) => {
      if (method !== 'eth_getLogs') return null;
      widths.push(readRangeWidth(filter));
      if (widths.length > 1) return null;
      const error = { code: -32_602, message: 'query exceeds max block range 1000' };
      return { json: { jsonrpc: '2.0', id: 1, error } };
    });
    expect(await lookUp(address, rpcUrl)).toMatchObject({ ok: true, value: { settlements: 1 } });
    expect(widths.slice(1).every((width) => width <= 1_000n)).toBe(true);
  });

  test('fail if the endpoint refuses every range', async () => {
    const error = { code: -32_005, message: 'limit exceeded' };
    const rpcUrl = await startEndpoint((method) =>
      method === 'eth_getLogs' ? { json: { jsonrpc: '2.0', id: 1, error } } : null,
    );
    expect(await lookUp(newAddress(), rpcUrl)).toMatchObject({ ok: false });
  });

  test.each([{ result: 'nonsense' }, { result: null }, { result: {} }, {}, [], null, 'x'])(
    'fail if the endpoint answers %j',
    async (answer) => {
      const rpcUrl = await startEndpoint(() => ({ json: answer }));
      expect(await lookUp(newAddress(), rpcUrl)).toMatchObject({
        ok: false,
        detail: expect.stringContaining('answered calls of the chain in no known form'),
      });
    },
  );

  test.each([{ result: 'nonsense' }, { result: null }, { result: [7] }])(
    'fail if the logs are %j',
    async (answer) => {
      const json = { jsonrpc: '2.0', id: 1, ...answer };
      const rpcUrl = await startEndpoint((method) => (method === 'eth_getLogs' ? { json } : null));
      expect(await lookUp(newAddress(), rpcUrl)).toMatchObject({ ok: false });
    },
  );

  test('fail if the endpoint answers 500 or too many bytes, hangs or is gone', async () => {
    const { port } = new URL(await startEndpoint(() => ({ status: 500, json: 'x' })));
    const url = `http://127.0.0.1:${port}`;
    expect(await lookUp(newAddress(), url)).toMatchObject({ ok: false });
    await endpoint?.close();
    expect(await lookUp(newAddress(), url)).toMatchObject({
      ok: false,
      detail: `127.0.0.1:${port} could not be asked (ECONNREFUSED)`,
    });
    const tooLong = await startEndpoint(() => ({ json: 'x'.repeat(8 * 1024 * 1024) }));
    expect(await lookUp(newAddress(), tooLong)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('more than 8388608 bytes'),
    });
    await endpoint?.close();
    const silentEndpoint = await startEndpoint(() => 'hang');
    expect(await lookUp(newAddress(), silentEndpoint, SHORT_MS)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('did not answer within 300 ms'),
      pauseMs: 30_000,
    });
  });

  test.each([429, 503])('are requested once more if the endpoint is busy (%i)', async (status) => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    let busyLeft = 1;
    const rpcUrl = await startEndpoint(() => {
      busyLeft -= 1;
      return busyLeft < 0 ? null : { status, retryAfter: '0', json: 'later' };
    });
    expect(await lookUp(address, rpcUrl)).toMatchObject({ ok: true, value: { settlements: 1 } });
    const alwaysBusy = await startEndpoint(() => ({ status, retryAfter: '60', json: 'later' }));
    expect(await lookUp(address, alwaysBusy)).toMatchObject({ ok: false, pauseMs: 60_000 });
  });
});

function readRangeWidth(filter: unknown): bigint {
  const { fromBlock, toBlock } = filter as { fromBlock: Hex; toBlock: Hex }; // viem sends these members
  return BigInt(toBlock) - BigInt(fromBlock) + 1n;
}
