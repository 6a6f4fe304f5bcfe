import { type Hex, numberToHex, pad, toEventSelector, toHex } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { findSettlementsInLogs } from '../../../src/scanner/indexes/settlement-logs.ts';
import { requestContext } from './request-context.ts';
import { type StandIn, type StandInAnswer, startStandIn } from './stand-in.ts';

/** A local node cannot mine a long chain in time, so a server invents empty blocks and the logs of payments. */

const ASSET = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const PAY_TO = '0x1111111111111111111111111111111111111111';
const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');
const LATEST_BLOCK = 30_000_000;
const LATEST_SEC = Date.parse('2026-08-20T12:00:00Z') / 1_000;
const BLOCK_SEC = 2;

type Payment = { readonly block: number; readonly payer: number };

let endpoint: StandIn | undefined;
afterEach(() => endpoint?.close());

/** Returns `ranges`, the block range of each call for transfers. `refuse` may replace the answer to such a call. */
async function startChain(
  payments: readonly Payment[],
  refuse: (rangeCount: number, range: readonly [number, number]) => StandInAnswer | null = () =>
    null,
) {
  const ranges: (readonly [number, number])[] = [];
  endpoint = await startStandIn((_url, text) => {
    const { id, method, params } = JSON.parse(text);
    const reply = (result: unknown): StandInAnswer => ({ json: { jsonrpc: '2.0', id, result } });
    if (method === 'eth_getBlockByNumber') return reply(blockAt(params[0]));
    const [filter] = params;
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
    const isTransferQuery = filter.topics[0] === TRANSFER_TOPIC;
    if (isTransferQuery) {
      ranges.push([from, to]);
      const refusal = refuse(ranges.length, [from, to]);
      if (refusal !== null) return refusal;
    }
    const paymentsInRange = payments.filter(({ block }) => block >= from && block <= to);
    const authorizers: readonly string[] = isTransferQuery ? [] : [filter.topics[1]].flat();
    const logs = isTransferQuery
      ? paymentsInRange.map((payment) =>
          createLog(payment, [TRANSFER_TOPIC, toAccount(payment.payer), pad(PAY_TO)]),
        )
      : paymentsInRange
          .filter(({ payer }) => authorizers.includes(toAccount(payer)))
          .map((payment) =>
            createLog(payment, [
              filter.topics[0],
              toAccount(payment.payer),
              toTransactionHash(payment),
            ]),
          );
    return reply(logs);
  });
  return { ranges, lookup: lookup(endpoint.url) };
}

const lookup = (rpcUrl: string) => () =>
  findSettlementsInLogs({ rpcUrl, asset: ASSET }, PAY_TO, requestContext());

function blockAt(tag: string) {
  const number = tag === 'latest' ? LATEST_BLOCK : Number(tag);
  const timestamp = LATEST_SEC - (LATEST_BLOCK - number) * BLOCK_SEC;
  return {
    number: numberToHex(number),
    timestamp: numberToHex(timestamp),
    hash: pad(numberToHex(number)),
    transactions: [],
  };
}

const toAccount = (payer: number): Hex => pad(numberToHex(0x1000 + payer));
const toTransactionHash = ({ block, payer }: Payment): Hex => pad(toHex(block * 1_000 + payer));

function createLog(payment: Payment, topics: readonly Hex[]) {
  return {
    address: ASSET,
    topics,
    data: topics[0] === TRANSFER_TOPIC ? pad(toHex(10_000)) : '0x',
    blockNumber: numberToHex(payment.block),
    blockHash: pad(numberToHex(payment.block)),
    transactionHash: toTransactionHash(payment),
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  };
}

describe('on a long chain, settlements', () => {
  test('are read newest first, in at most twenty ranges of 10,000 blocks', async () => {
    const { ranges, lookup } = await startChain([
      { block: LATEST_BLOCK - 150_000, payer: 1 },
      { block: LATEST_BLOCK - 200_000, payer: 2 },
    ]);
    expect(await lookup()).toEqual({
      ok: true,
      value: {
        address: PAY_TO,
        windowDays: 4.6,
        settlements: 1,
        payers: 1,
        lastAt: '2026-08-17T00:40:00.000Z',
      },
    });
    expect(ranges).toHaveLength(20);
    expect(ranges[0]).toEqual([LATEST_BLOCK - 9_999, LATEST_BLOCK]);
    expect(ranges[19]).toEqual([LATEST_BLOCK - 199_999, LATEST_BLOCK - 190_000]);
  });

  test('are read no further once there are enough of them for a check', async () => {
    const payments = Array.from({ length: 100 }, (_, index) => ({
      block: LATEST_BLOCK - index * 50,
      payer: index % 10,
    }));
    const { ranges, lookup } = await startChain(payments);
    expect(await lookup()).toMatchObject({
      value: { settlements: 100, payers: 10, windowDays: 0.2 },
    });
    expect(ranges).toHaveLength(1);
  });

  test('of only one payer are read further, because other payers may follow', async () => {
    const payments = Array.from({ length: 100 }, (_, index) => ({
      block: LATEST_BLOCK - index,
      payer: 1,
    }));
    const { ranges, lookup } = await startChain([
      ...payments,
      { block: LATEST_BLOCK - 12_000, payer: 2 },
    ]);
    expect(await lookup()).toMatchObject({ value: { settlements: 101, payers: 2 } });
    expect(ranges).toHaveLength(20);
  });

  test('come with a shorter window if a later range fails', async () => {
    const { lookup } = await startChain([{ block: LATEST_BLOCK - 25_000, payer: 1 }], (ranges) =>
      ranges > 2 ? { status: 500, json: 'x' } : null,
    );
    expect(await lookup()).toEqual({
      ok: true,
      value: { address: PAY_TO, windowDays: 0.4, settlements: 0, payers: 0, lastAt: null },
    });
  });

  test('are read in ranges of 1,000 blocks if the endpoint refuses more', async () => {
    const error = { code: -32_600, message: 'eth_getLogs is limited to a 1000 block range' };
    const { ranges, lookup } = await startChain(
      [{ block: LATEST_BLOCK - 1_500, payer: 1 }],
      (ranges) => (ranges === 1 ? { json: { jsonrpc: '2.0', id: 1, error } } : null),
    );
    expect(await lookup()).toMatchObject({ value: { settlements: 1, windowDays: 0.4 } });
    expect(ranges[1]).toEqual([LATEST_BLOCK - 999, LATEST_BLOCK]);
    expect(ranges).toHaveLength(20);
  });

  test('are read in shorter ranges around the block whose logs are over the byte limit', async () => {
    const busyBlock = LATEST_BLOCK - 15_000;
    const { ranges, lookup } = await startChain(
      [{ block: busyBlock, payer: 1 }],
      (_count, [from, to]) =>
        from <= busyBlock && busyBlock <= to && to - from >= 100
          ? { json: { result: ['x'.repeat(8 * 1024 * 1024)] } }
          : null,
    );
    expect(await lookup()).toMatchObject({ ok: true, value: { windowDays: expect.any(Number) } });
    const widths = ranges.map(([from, to]) => to - from + 1);
    expect(widths.slice(0, 3)).toEqual([10_000, 10_000, 1_000]);
    expect(widths.slice(-1)).toEqual([100]);
  });

  test('are read only up to a single block whose logs are over the byte limit', async () => {
    const { lookup } = await startChain([], (_count, [from]) =>
      from <= LATEST_BLOCK - 10_000 ? { json: { result: ['x'.repeat(8 * 1024 * 1024)] } } : null,
    );
    expect(await lookup()).toMatchObject({ ok: true, value: { windowDays: 0.2, settlements: 0 } });
  });

  test('are read only up to a range with more senders than one call can name', async () => {
    const manyPayments = Array.from({ length: 201 }, (_, index) => ({
      block: LATEST_BLOCK - 11_000 - index,
      payer: 100 + index,
    }));
    const { ranges, lookup } = await startChain([
      { block: LATEST_BLOCK - 5, payer: 1 },
      ...manyPayments,
    ]);
    // Only the 200 newest senders are looked up, so the window ends before their range.
    expect(await lookup()).toMatchObject({
      value: { settlements: 201, payers: 201, windowDays: 0.2 },
    });
    expect(ranges).toHaveLength(2);
  });
});
