import { type Hex, numberToHex, pad, toEventSelector, toHex } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { findSettlementsInLogs } from '../../src/indexes/settlement-logs.ts';
import { requestContext } from './request-context.ts';
import { type Said, type StandIn, startStandIn } from './stand-in.ts';

/** Long chains, which no local one mines in time: blocks without content, and logs by number. */

const ASSET = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const PAY_TO = '0x1111111111111111111111111111111111111111';
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const LATEST = 30_000_000;
const LATEST_SEC = Date.parse('2026-08-20T12:00:00Z') / 1_000;
const BLOCK_SEC = 2;

type Paid = { readonly block: number; readonly payer: number };

let endpoint: StandIn | undefined;
afterEach(() => endpoint?.close());

/** The calls that asked for transfers, as ranges; `refuse` may answer in the chain's place. */
async function startChain(
  paid: readonly Paid[],
  refuse: (rangesSoFar: number, range: readonly [number, number]) => Said | null = () => null,
) {
  const ranges: (readonly [number, number])[] = [];
  endpoint = await startStandIn((_url, text) => {
    const { id, method, params } = JSON.parse(text);
    const reply = (result: unknown): Said => ({ json: { jsonrpc: '2.0', id, result } });
    if (method === 'eth_getBlockByNumber') return reply(blockAt(params[0]));
    const [filter] = params;
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
    const isTransfers = filter.topics[0] === TRANSFER;
    if (isTransfers) {
      ranges.push([from, to]);
      const refused = refuse(ranges.length, [from, to]);
      if (refused !== null) return refused;
    }
    const inRange = paid.filter(({ block }) => block >= from && block <= to);
    const asked: readonly string[] = isTransfers ? [] : [filter.topics[1]].flat();
    const logs = isTransfers
      ? inRange.map((one) => logOf(one, [TRANSFER, accountOf(one.payer), pad(PAY_TO)]))
      : inRange
          .filter((one) => asked.includes(accountOf(one.payer)))
          .map((one) => logOf(one, [filter.topics[0], accountOf(one.payer), hashOf(one)]));
    return reply(logs);
  });
  return { ranges, lookup: lookup(endpoint.url) };
}

const lookup = (rpcUrl: string) => () =>
  findSettlementsInLogs({ rpcUrl, asset: ASSET }, PAY_TO, requestContext());

function blockAt(tag: string) {
  const number = tag === 'latest' ? LATEST : Number(tag);
  const timestamp = LATEST_SEC - (LATEST - number) * BLOCK_SEC;
  return {
    number: numberToHex(number),
    timestamp: numberToHex(timestamp),
    hash: pad(numberToHex(number)),
    transactions: [],
  };
}

const accountOf = (payer: number): Hex => pad(numberToHex(0x1000 + payer));
const hashOf = ({ block, payer }: Paid): Hex => pad(toHex(block * 1_000 + payer));

function logOf(one: Paid, topics: readonly Hex[]) {
  return {
    address: ASSET,
    topics,
    data: topics[0] === TRANSFER ? pad(toHex(10_000)) : '0x',
    blockNumber: numberToHex(one.block),
    blockHash: pad(numberToHex(one.block)),
    transactionHash: hashOf(one),
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  };
}

describe('on a long chain, settlements', () => {
  test('are read newest first, twenty ranges of 10,000 blocks at most', async () => {
    const { ranges, lookup } = await startChain([
      { block: LATEST - 150_000, payer: 1 },
      { block: LATEST - 200_000, payer: 2 },
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
    expect(ranges[0]).toEqual([LATEST - 9_999, LATEST]);
    expect(ranges[19]).toEqual([LATEST - 199_999, LATEST - 190_000]);
  });

  test('are not read to the end if there are more than a check needs', async () => {
    const busy = Array.from({ length: 100 }, (_, index) => ({
      block: LATEST - index * 50,
      payer: index % 10,
    }));
    const { ranges, lookup } = await startChain(busy);
    expect(await lookup()).toMatchObject({
      value: { settlements: 100, payers: 10, windowDays: 0.2 },
    });
    expect(ranges).toHaveLength(1);
  });

  test('of few payers are read further, because others may follow', async () => {
    const busy = Array.from({ length: 100 }, (_, index) => ({ block: LATEST - index, payer: 1 }));
    const { ranges, lookup } = await startChain([...busy, { block: LATEST - 12_000, payer: 2 }]);
    expect(await lookup()).toMatchObject({ value: { settlements: 101, payers: 2 } });
    expect(ranges).toHaveLength(20);
  });

  test('come with the window that was read if a further read fails', async () => {
    const { lookup } = await startChain([{ block: LATEST - 25_000, payer: 1 }], (ranges) =>
      ranges > 2 ? { status: 500, json: 'x' } : null,
    );
    expect(await lookup()).toEqual({
      ok: true,
      value: { address: PAY_TO, windowDays: 0.4, settlements: 0, payers: 0, lastAt: null },
    });
  });

  test('are read in ranges of 1,000 blocks if the endpoint refuses more', async () => {
    const error = { code: -32_600, message: 'eth_getLogs is limited to a 1000 block range' };
    const { ranges, lookup } = await startChain([{ block: LATEST - 1_500, payer: 1 }], (ranges) =>
      ranges === 1 ? { json: { jsonrpc: '2.0', id: 1, error } } : null,
    );
    expect(await lookup()).toMatchObject({ value: { settlements: 1, windowDays: 0.4 } });
    expect(ranges[1]).toEqual([LATEST - 999, LATEST]);
    expect(ranges).toHaveLength(20);
  });

  test('are read in ever shorter ranges if the logs are over the cap, and only there', async () => {
    const busy = LATEST - 15_000;
    const { ranges, lookup } = await startChain(
      [{ block: busy, payer: 1 }],
      (_count, [from, to]) =>
        from <= busy && busy <= to && to - from >= 100
          ? { json: { result: ['x'.repeat(8 * 1024 * 1024)] } }
          : null,
    );
    expect(await lookup()).toMatchObject({ ok: true, value: { windowDays: expect.any(Number) } });
    const widths = ranges.map(([from, to]) => to - from + 1);
    expect(widths.slice(0, 3)).toEqual([10_000, 10_000, 1_000]);
    expect(widths.slice(-1)).toEqual([100]);
  });

  test('end before a single block that is over the cap', async () => {
    const { lookup } = await startChain([], (_count, [from]) =>
      from <= LATEST - 10_000 ? { json: { result: ['x'.repeat(8 * 1024 * 1024)] } } : null,
    );
    expect(await lookup()).toMatchObject({ ok: true, value: { windowDays: 0.2, settlements: 0 } });
  });

  test('end before a range with more senders than one question holds', async () => {
    const crowd = Array.from({ length: 201 }, (_, index) => ({
      block: LATEST - 11_000 - index,
      payer: 100 + index,
    }));
    const { ranges, lookup } = await startChain([{ block: LATEST - 5, payer: 1 }, ...crowd]);
    // The 200 newest senders are looked up; the window is the one that was read whole.
    expect(await lookup()).toMatchObject({
      value: { settlements: 201, payers: 201, windowDays: 0.2 },
    });
    expect(ranges).toHaveLength(2);
  });
});
