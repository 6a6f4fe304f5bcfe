/** Every failpoint crossed with every way of coming back. */
import assert from 'node:assert/strict';
import { PAYMENT_STEPS, type PaymentStep } from '../../src/service/payment/gate/purchase.ts';
import { newPayer } from '../service/payment/payer.ts';
import type { Payment } from './call.ts';
import { checkChargedOnce, checkPromises, redeliver } from './promises.ts';
import { PRICE, type Rig, type Way } from './rig.ts';

export const RETRIES = ['same header', 'fresh authorization', 'concurrent', 'two joiners'] as const;
export type Retry = (typeof RETRIES)[number];

export type Cell = {
  readonly failpoint: PaymentStep;
  readonly retry: Retry;
  /** The way of the first purchase, and of its repeat. Both are by the route if absent. */
  readonly ways?: readonly [first: Way, back: Way];
};

/** Every failpoint with every way of coming back. */
export function allCells(): Cell[] {
  return PAYMENT_STEPS.flatMap((failpoint) => RETRIES.map((retry) => ({ failpoint, retry })));
}

/** Every failpoint once, and every way of coming back at least twice. */
export function diagonal(): Cell[] {
  return PAYMENT_STEPS.map((failpoint, index) => ({
    failpoint,
    retry: RETRIES[index % RETRIES.length] ?? 'same header',
  }));
}

/** The service dies at the failpoint while it serves a paid call; then its client comes back. */
export async function playCell(rig: Rig, { failpoint, retry, ways }: Cell): Promise<void> {
  const [way, wayBack] = ways ?? ['route', 'route'];
  const host = `${failpoint}-${retry.replaceAll(' ', '-')}-${way}-${wayBack}.example.com`;
  rig.way = way;
  const before = rig.calls.length;
  const first = await pay(host);
  const second = retry === 'two joiners' ? await pay(host) : null;
  await rig.arm({ name: failpoint, n: 1 });
  const calls = [rig.scan(first), ...(second ? [rig.scan(second)] : [])];
  await rig.died();
  for (const { status } of await Promise.all(calls)) {
    assert.equal(status, 0, `a whole answer from a process that died at ${failpoint}`);
  }
  await rig.start();
  rig.way = wayBack;
  await comeBack(rig, retry, first, second);
  await rig.quiet();
  checkChargedOnce(rig, first);
  if (second) checkChargedOnce(rig, second);
  await checkPromises(rig, rig.calls.slice(before));
}

async function comeBack(rig: Rig, retry: Retry, first: Payment, second: Payment | null) {
  const expectAnswer = async (payment: Payment) => {
    const { status } = await redeliver(rig, payment);
    assert.equal(status, 200, `the retry (${retry}) was answered ${status}`);
  };
  switch (retry) {
    case 'same header':
      return expectAnswer(first);
    case 'fresh authorization':
      return expectAnswer({ ...first, signed: await first.payer.sign({ value: PRICE }) });
    case 'concurrent':
      await Promise.all([expectAnswer(first), expectAnswer(first), expectAnswer(first)]);
      return;
    case 'two joiners':
      await Promise.all([expectAnswer(first), ...(second ? [expectAnswer(second)] : [])]);
      return;
  }
}

async function pay(host: string): Promise<Payment> {
  const payer = newPayer();
  return { payer, host, signed: await payer.sign({ value: PRICE }) };
}
