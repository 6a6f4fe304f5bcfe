/** A service that is killed while it sells a scan over MCP keeps the payment promises of `POST /v1/scan`. */
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { PAYMENT_STEPS } from '../../src/service/payment/gate/purchase.ts';
import { ensurePythonEnv } from '../fixtures/clients/python/python-env.ts';
import { startPythonMcpBuyer } from '../fixtures/clients/python/python-mcp-buyer.ts';
import { needs } from '../fixtures/needs.ts';
import { newPayer } from '../service/payment/payer.ts';
import { type Cell, playCell, RETRIES } from './matrix.ts';
import { checkChargedOnce } from './promises.ts';
import { Rig } from './rig.ts';

/** The transport of the first call, and the transport of the retry. */
const TRANSPORTS: readonly NonNullable<Cell['ways']>[] = [
  ['mcp', 'mcp'],
  ['mcp', 'route'],
  ['route', 'mcp'],
];
const CELLS = PAYMENT_STEPS.map((failpoint, index): Cell => {
  const retry = RETRIES[index % RETRIES.length] ?? 'same header';
  return { failpoint, retry, ways: TRANSPORTS[index % TRANSPORTS.length] ?? ['mcp', 'mcp'] };
});

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

describe('the service keeps its payment promises if it is killed while it sells a scan over MCP', () => {
  test.each(CELLS)('at $failpoint; retry: $retry; transports: $ways', (cell) =>
    playCell(rig, cell),
  );
});

const environment = await ensurePythonEnv();
const { python, unavailable = null } = { python: '', unavailable: null, ...environment };

describe('a Python MCP client whose seller is killed', needs(unavailable), () => {
  const buyer = unavailable === null ? startPythonMcpBuyer(python) : null;
  afterAll(() => buyer?.[Symbol.asyncDispose]());

  test.each(PAYMENT_STEPS)(
    'at %s gets an answer to its second call, and is charged for one of the two calls',
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
      const [firstAnswer] = await Promise.all([call().catch(() => null), rig.died()]);
      assert.equal(firstAnswer, null, `a whole answer from a process that died at ${name}`);
      await rig.start();
      const secondAnswer = await callUntilCertain(call);
      assert.deepEqual([secondAnswer.isError, secondAnswer.payment?.success], [false, true]);
      await rig.quiet();
      checkChargedOnce(rig, { payer });
    },
  );

  test('causes one settlement for each scan that it bought', () => {
    const scanCount = PAYMENT_STEPS.length;
    const otherNonces = new Set<string>(rig.calls.map(({ payment }) => payment.signed.nonce));
    const mcpTransfers = rig.record.transfers.filter(({ nonce }) => !otherNonces.has(nonce));
    assert.equal(mcpTransfers.length, scanCount);
  });
});

type PurchaseAnswer = Awaited<ReturnType<ReturnType<typeof startPythonMcpBuyer>['buy']>>;

/** Repeats the call until the service knows whether the first payment was settled. */
async function callUntilCertain(call: () => Promise<PurchaseAnswer>): Promise<PurchaseAnswer> {
  for (let attemptsLeft = 100; ; attemptsLeft -= 1) {
    const answer = await call();
    if (attemptsLeft === 0 || !answer.text.includes('settlement_unknown')) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
