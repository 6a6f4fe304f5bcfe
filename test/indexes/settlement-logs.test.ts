import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findSettlementsInLogs } from '../../src/indexes/settlement-logs.ts';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import { tokenAbi } from '../fixtures/chain/token-abi.ts';
import { needs } from '../fixtures/needs.ts';
import { authorize, settle, transfer, walletOf } from './pay.ts';
import { requestContext, SHORT_MS } from './request-context.ts';
import { type Said, type StandIn, startStandIn } from './stand-in.ts';

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

  const lookup = (address: Address, rpcUrl = chain.rpcUrl, timeoutMs?: number) =>
    findSettlementsInLogs({ rpcUrl, asset: chain.token }, address, requestContext(timeoutMs));

  /** The chain behind an endpoint of the test's making: `null` passes a call on. */
  async function behind(answer: (method: string, params: unknown[]) => Said | null) {
    endpoint = await startStandIn(async (_url, body) => {
      const { id, method, params } = JSON.parse(body);
      const said = answer(method, params);
      if (said !== null) return said;
      const reply = await fetch(chain.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
      return { json: await reply.json() };
    });
    return endpoint.url;
  }

  test('are none for an address without payments, in a full window', async () => {
    const address = newAddress();
    expect(await lookup(address)).toEqual({
      ok: true,
      value: { address, windowDays: 30, settlements: 0, payers: 0, lastAt: null },
    });
  });

  test('are transfers by authorization; plain ones and minted coins are not', async () => {
    const address = newAddress();
    const [one, other] = [await chain.newPayer(), await chain.newPayer()];
    await chain.mint(address, 5_000n);
    await transfer(chain, address);
    await settle(chain, one, address);
    await settle(chain, one, address);
    await settle(chain, other, address);
    const lastAt = new Date(Number(await chain.blockTime()) * 1_000).toISOString();
    await transfer(chain, address);
    await settle(chain, one, newAddress());
    expect(await lookup(address)).toEqual({
      ok: true,
      value: { address, windowDays: 30, settlements: 3, payers: 2, lastAt },
    });
  });

  test('are found for an address in lower case too', async () => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    expect(await lookup(address.toLowerCase() as Address)).toMatchObject({
      ok: true,
      value: { settlements: 1 },
    });
  });

  test('belong to the payer that authorized, also in a transaction with others', async () => {
    const address = newAddress();
    const payer = await chain.newPayer();
    const sender = await walletOf(chain);
    await chain.mint(sender.address, 1_000_000n);
    await sender.mined(
      await sender.wallet.writeContract({
        address: chain.token,
        abi: approveAbi,
        functionName: 'approve',
        args: [MULTICALL3, 1_000_000n],
      }),
    );
    const plain = encodeFunctionData({
      abi: approveAbi,
      functionName: 'transferFrom',
      args: [sender.address, address, 1_000n],
    });
    const settled = encodeFunctionData({
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
        args: [true, [call(plain), call(settled), call(plain)]],
      }),
    );
    expect(await lookup(address)).toMatchObject({ ok: true, value: { settlements: 1, payers: 1 } });
  });

  test('count only in the last 30 days', async () => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    await settle(chain, await chain.newPayer(), address);
    await chain.increaseTime(20 * DAY_SEC);
    await settle(chain, await chain.newPayer(), address);
    const lastAt = new Date(Number(await chain.blockTime()) * 1_000).toISOString();
    await chain.increaseTime(11 * DAY_SEC);
    expect(await lookup(address)).toEqual({
      ok: true,
      value: { address, windowDays: 30, settlements: 1, payers: 1, lastAt },
    });
    await chain.increaseTime(20 * DAY_SEC);
    expect(await lookup(address)).toMatchObject({
      ok: true,
      value: { settlements: 0, lastAt: null },
    });
  });

  test('are requested in fewer blocks if the endpoint refuses many', async () => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    const ranges: bigint[] = [];
    const rpcUrl = await behind((method, [filter]) => {
      if (method !== 'eth_getLogs') return null;
      ranges.push(widthOf(filter));
      if (ranges.length > 1) return null;
      const error = { code: -32_602, message: 'query exceeds max block range 1000' };
      return { json: { jsonrpc: '2.0', id: 1, error } };
    });
    expect(await lookup(address, rpcUrl)).toMatchObject({ ok: true, value: { settlements: 1 } });
    expect(ranges.slice(1).every((width) => width <= 1_000n)).toBe(true);
  });

  test('fail if the endpoint refuses every range', async () => {
    const error = { code: -32_005, message: 'limit exceeded' };
    const rpcUrl = await behind((method) =>
      method === 'eth_getLogs' ? { json: { jsonrpc: '2.0', id: 1, error } } : null,
    );
    expect(await lookup(newAddress(), rpcUrl)).toMatchObject({ ok: false });
  });

  test.each([{ result: 'nonsense' }, { result: null }, { result: {} }, {}, [], null, 'x'])(
    'fail if the endpoint answers %j',
    async (answer) => {
      const rpcUrl = await behind(() => ({ json: answer }));
      expect(await lookup(newAddress(), rpcUrl)).toMatchObject({
        ok: false,
        detail: expect.stringContaining('answered calls of the chain in no known form'),
      });
    },
  );

  test.each([{ result: 'nonsense' }, { result: null }, { result: [7] }])(
    'fail if the logs are %j',
    async (answer) => {
      const json = { jsonrpc: '2.0', id: 1, ...answer };
      const rpcUrl = await behind((method) => (method === 'eth_getLogs' ? { json } : null));
      expect(await lookup(newAddress(), rpcUrl)).toMatchObject({ ok: false });
    },
  );

  test('fail if the endpoint errs, answers too much, hangs or is gone', async () => {
    const { port } = new URL(await behind(() => ({ status: 500, json: 'x' })));
    const url = `http://127.0.0.1:${port}`;
    expect(await lookup(newAddress(), url)).toMatchObject({ ok: false });
    await endpoint?.close();
    expect(await lookup(newAddress(), url)).toMatchObject({
      ok: false,
      detail: `127.0.0.1:${port} could not be asked (ECONNREFUSED)`,
    });
    const long = await behind(() => ({ json: 'x'.repeat(8 * 1024 * 1024) }));
    expect(await lookup(newAddress(), long)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('more than 8388608 bytes'),
    });
    await endpoint?.close();
    const silent = await behind(() => 'hang');
    expect(await lookup(newAddress(), silent, SHORT_MS)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('did not answer within 300 ms'),
      quietMs: 30_000,
    });
  });

  test.each([429, 503])('are requested once more if the endpoint is busy (%i)', async (status) => {
    const address = newAddress();
    await settle(chain, await chain.newPayer(), address);
    let busy = 1;
    const rpcUrl = await behind(() => {
      busy -= 1;
      return busy < 0 ? null : { status, retryAfter: '0', json: 'later' };
    });
    expect(await lookup(address, rpcUrl)).toMatchObject({ ok: true, value: { settlements: 1 } });
    const stubborn = await behind(() => ({ status, retryAfter: '60', json: 'later' }));
    expect(await lookup(address, stubborn)).toMatchObject({ ok: false, quietMs: 60_000 });
  });
});

function widthOf(filter: unknown): bigint {
  const { fromBlock, toBlock } = filter as { fromBlock: Hex; toBlock: Hex }; // as viem sends it
  return BigInt(toBlock) - BigInt(fromBlock) + 1n;
}
