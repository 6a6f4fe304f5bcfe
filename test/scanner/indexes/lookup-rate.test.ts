/** Look-ups of settlements share the node with payments, so their calls are limited. */
import { numberToHex, pad } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { findSettlementsInLogs } from '../../../src/scanner/indexes/settlement-logs.ts';
import { createLookupLimiter } from '../../../src/scanner/indexes/source-options.ts';
import { requestContext, SHORT_MS } from './request-context.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const ASSET = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const PAY_TO = '0x1111111111111111111111111111111111111111';

let node: StandIn;
afterEach(() => node.close());

/** Starts a node whose chain has one block without payments. A look-up there takes a few calls. */
async function startNode(): Promise<void> {
  const block = {
    number: numberToHex(1),
    timestamp: numberToHex(1_700_000_000),
    hash: pad('0x1'),
    transactions: [],
  };
  node = await startStandIn((_url, text) => {
    const { id, method } = JSON.parse(text);
    return { json: { jsonrpc: '2.0', id, result: method === 'eth_getLogs' ? [] : block } };
  });
}

const lookUp = (limiter: ReturnType<typeof createLookupLimiter>, timeoutMs: number) =>
  findSettlementsInLogs(
    { rpcUrl: node.url, asset: ASSET, chainTurn: limiter },
    PAY_TO,
    requestContext(timeoutMs),
  );

describe('look-ups of settlements on the chain', () => {
  test('together make no more calls than the limit allows', async () => {
    await startNode();
    const limiter = createLookupLimiter(5, 600_000);
    for (let round = 0; round < 2; round++) {
      await Promise.all(Array.from({ length: 8 }, () => lookUp(limiter, SHORT_MS)));
      expect(node.requestedPaths).toHaveLength(5);
    }
  });
});
