import { describe, expect, test } from 'vitest';
import type {
  PaymentEvent,
  SettleOutcome,
} from '../../../src/service/payment/settle/facilitator.ts';
import { newPayer, toHeaders } from './payer.ts';
import { listStates, QUICK_TIMING, SALE } from './settling.ts';
import { startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const { sign } = payer;
const LATE_TRANSACTION = `0x${'ef'.repeat(32)}` as const;

const unclear: SettleOutcome = { kind: 'unclear', reason: 'timeout', transaction: null };
const settled: SettleOutcome = { kind: 'settled', transaction: LATE_TRANSACTION };
const nonceUsed: SettleOutcome = {
  kind: 'nonce_used',
  reason: 'nonce_already_used',
  transaction: null,
};

describe('a definite refusal', () => {
  test('that is the payer’s fault gives 402 with PAYMENT-RESPONSE, and the payment may be tried again', async () => {
    const facilitator = stubFacilitator();
    const outcome = { kind: 'refused', reason: 'insufficient_funds' } as const;
    facilitator.outcomes = [outcome, { kind: 'settled', transaction: TRANSACTION }];
    await using shop = await startShop({ facilitator, timing: QUICK_TIMING });
    const signed = await sign();
    const refusal = await shop.buy('x', toHeaders(signed));
    expect(refusal.status).toBe(402);
    expect(refusal.json['error']).toMatch(/^settlement_failed: .*Nothing was charged/);
    const response = Buffer.from(refusal.headers.get('payment-response') ?? '', 'base64');
    expect(JSON.parse(response.toString())).toMatchObject({
      success: false,
      transaction: '',
      network: 'eip155:8453',
      payer: payer.address,
    });
    expect(shop.published).toHaveLength(0);
    expect(await shop.unpaid(payer.address)).toHaveLength(1);
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
    expect(await shop.unpaid(payer.address)).toHaveLength(0);
    expect(await listStates(shop, signed)).toEqual([
      'claimed',
      'computed',
      'settling',
      'released',
      ...SALE,
    ]);
  });

  test('that is our fault gives 503, uncharged and without a debt, and the payment may be tried again', async () => {
    const facilitator = stubFacilitator();
    const notSent: SettleOutcome = { kind: 'not_sent', reason: 'connection refused' };
    facilitator.outcomes = [...Array<SettleOutcome>(7).fill(notSent), settled];
    await using shop = await startShop({ facilitator, timing: QUICK_TIMING });
    for (let n = 1; n <= 7; n++) {
      const refusal = await shop.buy(`x${n}`, toHeaders(await sign()));
      expect(refusal.status).toBe(503);
      expect(refusal.json).toMatchObject({ error: 'payments_unavailable', charged: false });
      expect(refusal.headers.get('retry-after')).not.toBeNull();
    }
    const unpaidMarks = await shop.unpaid(payer.address);
    expect(unpaidMarks).toHaveLength(7);
    expect(unpaidMarks.filter(({ isDebt }) => isDebt)).toHaveLength(0);
    expect((await shop.buy('x8', toHeaders(await sign()))).status).toBe(200);
  });
});

describe('a settlement in doubt, without a chain to ask', () => {
  test('gives 200 if a second or third send within the call succeeds', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [unclear, unclear, settled];
    await using shop = await startShop({ facilitator, timing: QUICK_TIMING });
    const signed = await sign();
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(200);
    expect(answer.paid?.transaction).toBe(LATE_TRANSACTION);
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(await listStates(shop, signed)).toEqual([
      'claimed',
      'computed',
      'settling',
      'unknown',
      'settled',
      'published',
    ]);
    expect(shop.published).toEqual(['scan-of-x']);
  });

  test('whose nonce turns out to be used counts as settled by the transaction that the first send returned', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [{ ...unclear, transaction: TRANSACTION }, nonceUsed];
    await using shop = await startShop({ facilitator, timing: QUICK_TIMING });
    const answer = await shop.buy('x', toHeaders(await sign()));
    expect(answer.status).toBe(200);
    expect(answer.paid?.transaction).toBe(TRANSACTION);
  });

  test('that no send has ended gives 503 with the transaction, and never a challenge', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [{ ...unclear, transaction: TRANSACTION }];
    await using shop = await startShop({ facilitator, timing: QUICK_TIMING });
    const signed = await sign();
    const firstAnswer = await shop.buy('x', toHeaders(signed));
    const retryAnswer = await shop.buy('x', toHeaders(signed));
    const freshAnswer = await shop.buy('x', toHeaders(await sign()));
    for (const answer of [firstAnswer, retryAnswer, freshAnswer]) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('payment-required')).toBeNull();
      expect(answer.json).toMatchObject({
        error: 'settlement_unknown',
        payment: {
          network: 'eip155:8453',
          payer: payer.address,
          nonce: signed.nonce,
          transaction: TRANSACTION,
        },
      });
      const header = answer.headers.get('payment-response') ?? '';
      expect(JSON.parse(Buffer.from(header, 'base64').toString('utf8'))).toEqual({
        success: false,
        errorReason: 'settlement_pending',
        transaction: TRANSACTION,
        network: 'eip155:8453',
        payer: payer.address,
      });
    }
    expect(await listStates(shop, signed)).toEqual(['claimed', 'computed', 'settling', 'unknown']);
    expect(shop.published).toHaveLength(0);
    expect(shop.computations).toHaveLength(1);

    facilitator.outcomes = [settled];
    await expect.poll(() => listStates(shop, signed)).toContain('published');
    const redelivered = await shop.buy('x', toHeaders(signed));
    expect(redelivered.status).toBe(200);
    expect(redelivered.headers.get('x-redelivered')).toBe('1');
    expect(shop.published).toEqual(['scan-of-x']);
  });

  test.each<SettleOutcome>([
    { kind: 'refused', reason: 'insufficient_funds' },
    { kind: 'not_sent', reason: 'connection refused' },
  ])(
    'does not end if a later send is $kind, because the first send may have taken the money',
    async (later) => {
      const facilitator = stubFacilitator();
      facilitator.outcomes = [unclear, later];
      await using shop = await startShop({ facilitator, timing: QUICK_TIMING });
      const signed = await sign();
      expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
      await expect.poll(() => facilitator.sent.length).toBeGreaterThan(3);
      expect(await listStates(shop, signed)).toEqual([
        'claimed',
        'computed',
        'settling',
        'unknown',
      ]);
    },
  );

  test("that cannot be looked up ends in the payer's favour after two days, and is not published", async () => {
    let nowMs = Date.now();
    const facilitator = stubFacilitator();
    facilitator.outcomes = [unclear];
    const events: PaymentEvent[] = [];
    await using shop = await startShop({
      timing: QUICK_TIMING,
      facilitator,
      clock: () => nowMs,
      onEvent: (event) => events.push(event),
    });
    const signed = await sign({ nowMs });
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
    nowMs += 300_000 + 47 * 3_600_000;
    await expect.poll(() => events.map(({ kind }) => kind)).toContain('overdue');
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
    nowMs += 3_600_000 + 1_000;
    await expect.poll(() => listStates(shop, signed)).toContain('published');
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-settlement')).toBe('unproved');
    expect(answer.paid?.transaction).toBe('');
    expect(shop.published).toHaveLength(0);
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'reconciled', outcome: 'unproved' }),
    );
    // The answer is kept for a day after the doubt ended.
    nowMs += 23 * 3_600_000;
    await shop.store.purge(nowMs);
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
    nowMs += 2 * 3_600_000;
    await shop.store.purge(nowMs);
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(410);
  });

  test('is sent again in the background, for at most two payments at once', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [unclear];
    let [running, mostAtOnce] = [0, 0];
    const settle = facilitator.settle.bind(facilitator);
    await using shop = await startShop({
      facilitator,
      timing: { ...QUICK_TIMING, reconcileWithinMs: 1 },
    });
    const calls = Array.from({ length: 12 }, async (_, n) => {
      const { header } = await newPayer().sign();
      return shop.buy(`x${n}`, { 'payment-signature': header });
    });
    for (const answer of await Promise.all(calls)) expect(answer.status).toBe(503);
    facilitator.settle = async (request) => {
      running += 1;
      mostAtOnce = Math.max(mostAtOnce, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return settle(request);
    };
    const sentBefore = facilitator.sent.length;
    await expect.poll(() => facilitator.sent.length).toBeGreaterThan(sentBefore + 12);
    expect(mostAtOnce).toBe(2);
  });
});
