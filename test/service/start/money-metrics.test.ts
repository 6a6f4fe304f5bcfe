/** /metrics shows the state of payments, and payments that need an operator raise an alarm. */
import { expect, test } from 'vitest';
import {
  MoneyMetrics,
  type MoneySource,
  raiseAlarm,
  watchReadiness,
} from '../../../src/service/start/money-metrics.ts';

function toSource(changes: Partial<MoneySource> = {}): MoneySource {
  const counts = { byState: { unknown: 2, settled: 1 }, oldestInDoubtMs: 40_000 };
  return {
    facilitator: {
      kind: 'local',
      location: 'a test',
      findSupported: async () => [],
      verify: async () => ({ kind: 'valid' }),
      settle: async () => ({ kind: 'refused', reason: 'x' }),
      account: () => ({
        balance: 5n * 10n ** 17n,
        unconfirmedCount: 3,
        oldestUnconfirmedMs: 61_000,
        nonceGap: 1,
      }),
    },
    recovery: { counts } as MoneySource['recovery'], // the metrics read no other member
    unreadyReason: () => null,
    ...changes,
  };
}

test('the counters of /metrics count events, and the gauges show the present state', async () => {
  const metrics = new MoneyMetrics();
  metrics.watch(toSource(), () => 100_000);
  metrics.observe({ kind: 'verified', outcome: 'valid', ms: 20 });
  metrics.observe({ kind: 'sent', outcome: 'settled', ms: 900 });
  metrics.observe({ kind: 'sent', outcome: 'unclear', ms: 9_000 });
  metrics.observe({ kind: 'node_call', method: 'eth_call', ms: 30, isError: true });
  metrics.observe({ kind: 'reconciled', outcome: 'unproved', key: 'k', reason: 'r' });
  metrics.observe({ kind: 'overdue', key: 'k', reason: 'r' });
  metrics.observe({ kind: 'debt' });
  metrics.setPurged(1_800_000_000_000);
  const lines = (await metrics.registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'payments_verified_total{outcome="valid"} 1',
      'payments_sent_total{outcome="settled"} 1',
      'payments_sent_total{outcome="unclear"} 1',
      'payments_facilitator_seconds_count{call="settle",outcome="unclear"} 1',
      'payments_node_seconds_count{method="eth_call",failed="true"} 1',
      'payments_reconciled_total{outcome="unproved"} 1',
      'payments_reconciled_total{outcome="failed"} 0',
      'payments_overdue_total 1',
      'payments_debts_total 1',
      'payments_keys{state="unknown"} 2',
      'payments_keys{state="settling"} 0',
      'payments_keys{state="settled"} 1',
      'payments_oldest_doubt_seconds 60',
      'payments_ready 1',
      'payments_gas_balance_ether 0.5',
      'payments_transactions_unconfirmed 3',
      'payments_oldest_transaction_seconds 61',
      'payments_nonce_gap 1',
      'store_purged_timestamp_seconds 1800000000',
    ]),
  );
});

test('payments_ready is 0 while payments are refused', async () => {
  const metrics = new MoneyMetrics();
  metrics.watch(toSource({ unreadyReason: () => 'no gas' }), Date.now);
  expect(await metrics.registry.metrics()).toContain('payments_ready 0');
});

test('failed, given-up and overdue payments raise an alarm, and late settlements do not', () => {
  const alarms: string[] = [];
  const alarm = (message: string) => alarms.push(message);
  raiseAlarm({ kind: 'overdue', key: 'k', reason: 'r' }, alarm);
  raiseAlarm({ kind: 'reconciled', outcome: 'failed', key: 'k', reason: 'r' }, alarm);
  raiseAlarm({ kind: 'reconciled', outcome: 'unproved', key: 'k', reason: 'r' }, alarm);
  raiseAlarm({ kind: 'reconciled', outcome: 'settled', key: 'k', reason: 'r' }, alarm);
  raiseAlarm({ kind: 'sent', outcome: 'unclear', ms: 1 }, alarm);
  expect(alarms).toEqual([
    expect.stringMatching(/^a payment is overdue/),
    expect.stringMatching(/^a payment failed/),
    expect.stringMatching(/^a payment was given up/),
  ]);
});

test('the log has one line when payments stop, and one line when payments are taken again', async () => {
  const logged: string[] = [];
  let unreadyReason: string | null = null;
  let polls = 0;
  const stop = watchReadiness(
    () => {
      polls += 1;
      return unreadyReason;
    },
    {
      unready: (message, { reason }) => logged.push(`${message}: ${reason}`),
      ready: (message) => logged.push(message),
    },
    5,
  );
  const waitForPolls = async () => {
    const pollsBefore = polls;
    await expect.poll(() => polls).toBeGreaterThan(pollsBefore + 2);
  };
  await waitForPolls();
  unreadyReason = 'no gas';
  await waitForPolls();
  unreadyReason = null;
  await waitForPolls();
  stop();
  expect(logged).toEqual(['payments are not taken: no gas', 'payments are taken again']);
});
