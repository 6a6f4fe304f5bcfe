/** Killed while a scan is sold over MCP: the promises about money are those of the route. */
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { PAYMENT_STEPS } from '../../src/payment/gate/purchase.ts';
import { ensurePythonEnv } from '../fixtures/clients/python/python-env.ts';
import { startPythonMcpBuyer } from '../fixtures/clients/python/python-mcp-buyer.ts';
import { needs } from '../fixtures/needs.ts';
import { newPayer } from '../payment/payer.ts';
import { type Cell, playCell, RETRIES } from './matrix.ts';
import { checkChargedOnce } from './promises.ts';
import { Rig } from './rig.ts';

/** Every failpoint once, every way of coming back, over the same way and over the other one. */
const WAYS: readonly NonNullable<Cell['ways']>[] = [
  ['mcp', 'mcp'],
  ['mcp', 'route'],
  ['route', 'mcp'],
];
const CELLS = PAYMENT_STEPS.map((failpoint, index): Cell => {
  const retry = RETRIES[index % RETRIES.length] ?? 'same header';
  return { failpoint, retry, ways: WAYS[index % WAYS.length] ?? ['mcp', 'mcp'] };
});

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

describe('killed in the middle of a scan that is sold over MCP', () => {
  test.each(CELLS)('at $failpoint; $retry, $ways', (cell) => playCell(rig, cell));
});

const environment = await ensurePythonEnv();
const { python, unavailable = null } = { python: '', unavailable: null, ...environment };

describe("Python's MCP client, whose seller is killed", needs(unavailable), () => {
  const buyer = unavailable === null ? startPythonMcpBuyer(python) : null;
  afterAll(() => buyer?.[Symbol.asyncDispose]());

  test.each(PAYMENT_STEPS)(
    'at %s: its second call is answered, and exactly one of the two is charged',
    async (name) => {
      assert(buyer !== null);
      const payer = newPayer();
      const call = () =>
        buyer.buy({
          url: `${rig.url}/mcp`,
          tool: 'scan_origin',
          arguments: { url: `https://python-${name}.example.com` },
          privateKey: payer.privateKey,
        });
      await rig.arm({ name, n: 1 });
      const [first] = await Promise.all([call().catch(() => null), rig.died()]);
      assert.equal(first, null, `a whole answer from a process that died at ${name}`);
      await rig.start();
      const again = await untilCertain(call);
      assert.deepEqual([again.isError, again.payment?.success], [false, true]);
      await rig.quiet();
      checkChargedOnce(rig, { payer });
    },
  );

  test('every settlement has a payment that was sent', () => {
    const bought = PAYMENT_STEPS.length;
    const ofRoute = new Set<string>(rig.calls.map(({ payment }) => payment.signed.nonce));
    const others = rig.record.transfers.filter(({ nonce }) => !ofRoute.has(nonce));
    assert.equal(others.length, bought);
  });
});

type Bought = Awaited<ReturnType<ReturnType<typeof startPythonMcpBuyer>['buy']>>;

/** What is in doubt after the crash is cleared up, and the client asks again. */
async function untilCertain(call: () => Promise<Bought>): Promise<Bought> {
  for (let left = 100; ; left -= 1) {
    const answer = await call();
    if (left === 0 || !answer.text.includes('settlement_unknown')) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
