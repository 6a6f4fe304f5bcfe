/** One sale: its instance is stopped at a point of it, and woken after the other took over. */
import { setTimeout as pause } from 'node:timers/promises';
import { PAYMENT_STEPS, type PaymentStep } from '../../src/service/payment/gate/purchase.ts';
import { type Dice, oneOf } from '../fixtures/dice.ts';
import type { SettleConduct } from '../service/payment/chaos-facilitator.ts';
import { sellerOf } from './fleet.ts';
import type { HeldSeller } from './held-seller.ts';
import type { InstanceAnswer, InstanceProcess } from './instance-process.ts';
import { newPurchase, type Purchase, priceOf } from './purchase.ts';
import { buyScan } from './shared-work.ts';
import type { Stoppable, StopRig } from './stop-rig.ts';

const RETRIES = ['same header', 'fresh authorization', 'both', 'joiner'] as const;
const WAKES = ['when the money has moved', 'when the other has answered'] as const;
const CONDUCTS: readonly SettleConduct[] = [
  'honest',
  'settles-and-is-slow',
  'settles-and-drops',
  'settles-and-says-500',
  'settles-and-denies',
  'looks-at-the-purse-first',
  'drops',
];
const POLL_MS = 10;
/**
 * Both instances send, and the one that wakes is told that the purse is empty, as the other has
 * just emptied it: were that refusal believed, the key would be free and the money gone.
 */
const TWO_SENDERS = {
  retry: 'same header',
  wake: 'when the money has moved',
  conducts: ['settles-and-is-slow', 'looks-at-the-purse-first'],
  hangsUp: false,
  purse: 1,
} as const;

/** One sale. The same seed plays the same sale. */
export type StoppedSale = {
  readonly failpoint: PaymentStep;
  readonly stopped: 0 | 1;
  readonly retry: (typeof RETRIES)[number];
  readonly wake: (typeof WAKES)[number];
  /** Conduct of the facilitator in the first two settlements. */
  readonly conducts: readonly SettleConduct[];
  /** The first caller gives up while its instance is stopped. */
  readonly hangsUp: boolean;
  /** Number of answers that the payer can afford. */
  readonly purse: 1 | 2;
};

/** One request and what came of it; status 0: the connection broke before the answer was whole. */
export type Call = {
  readonly purchase: Purchase;
  readonly status: number;
  readonly error: string | null;
  readonly body: string;
  readonly transaction: string | null;
  readonly isRedelivered: boolean;
};

export type PlayedSale = {
  readonly sale: StoppedSale;
  readonly seller: HeldSeller;
  readonly calls: readonly Call[];
};

/** Every failpoint in turn; the rest is left to the dice. */
export function drawSale(dice: Dice, run: number): StoppedSale {
  const failpoint = PAYMENT_STEPS[run % PAYMENT_STEPS.length] ?? 'parsed';
  const round = Math.floor(run / PAYMENT_STEPS.length);
  const drawn: StoppedSale = {
    failpoint,
    stopped: dice.below(2) === 0 ? 0 : 1,
    retry: oneOf(dice, RETRIES),
    wake: oneOf(dice, WAKES),
    conducts: [oneOf(dice, CONDUCTS), oneOf(dice, CONDUCTS)],
    hangsUp: dice.below(3) === 0,
    purse: dice.below(2) === 0 ? 1 : 2,
  };
  return failpoint === 'intent-synced' && round % 2 === 0 ? { ...drawn, ...TWO_SENDERS } : drawn;
}

export async function playSale(rig: StopRig, sale: StoppedSale, run: number): Promise<PlayedSale> {
  const { chain, facilitator, fleet } = rig;
  const stopped = rig.instances[sale.stopped];
  const other = rig.instances[1 - sale.stopped]?.instance ?? stopped.instance;
  const seller = sellerOf(fleet, run % fleet.sellers.length);
  const { privateKey } = await chain.newPayer(priceOf('scan') * BigInt(sale.purse));
  const first = await newPurchase('scan', privateKey);
  const calls: Promise<Call>[] = [];
  const hangUp = new AbortController();

  facilitator.plan = [...sale.conducts];
  await stopped.arm(sale.failpoint);
  const firstCall = callOf(stopped.instance, seller, first, hangUp.signal);
  calls.push(firstCall);
  if (!(await isStoppedBefore(stopped, firstCall))) {
    // The sale did not pass that point: refused, or in doubt, before it came there.
    await stopped.disarm();
  }
  if (sale.hangsUp) hangUp.abort();

  for (const purchase of await retriesOf(rig, sale, first, privateKey)) {
    calls.push(callOf(other, seller, purchase));
  }
  let isAnswered = false;
  const answered = Promise.all(calls.slice(1)).finally(() => {
    isAnswered = true;
  });
  // Money that has moved, for the first payment; others are awaited until they are answered.
  const hasMoved = async () => {
    while (!isAnswered && !(await chain.authorizationUsed(first.address, first.nonce))) {
      await pause(POLL_MS);
    }
  };
  await (sale.wake === 'when the money has moved' ? hasMoved() : answered);
  stopped.instance.wake();
  const played = await Promise.all(calls);
  facilitator.plan = [];
  return { sale, seller, calls: played };
}

/** Purchases that callers bring to the other instance while the first is stopped. */
async function retriesOf(
  { chain }: StopRig,
  { retry }: StoppedSale,
  first: Purchase,
  privateKey: `0x${string}`,
): Promise<readonly Purchase[]> {
  const anew = () => newPurchase('scan', privateKey);
  const another = async () =>
    newPurchase('scan', (await chain.newPayer(priceOf('scan'))).privateKey);
  switch (retry) {
    case 'same header':
      return [first];
    case 'fresh authorization':
      return [await anew()];
    case 'both':
      return [first, await anew()];
    case 'joiner':
      return [first, await another()];
  }
}

/** False if its call ended first. */
async function isStoppedBefore({ instance }: Stoppable, call: Promise<Call>): Promise<boolean> {
  let isOver = false;
  call.then(() => {
    isOver = true;
  });
  while (!instance.isStopped()) {
    if (isOver) return false;
    await pause(POLL_MS);
  }
  return true;
}

/** Never rejects: a broken connection is a result. */
export async function callOf(
  instance: InstanceProcess,
  seller: HeldSeller,
  purchase: Purchase,
  signal?: AbortSignal,
): Promise<Call> {
  try {
    return toCall(purchase, await buyScan(instance, seller, purchase, signal));
  } catch {
    const nothing = { error: null, body: '', transaction: null, isRedelivered: false };
    return { purchase, status: 0, ...nothing };
  }
}

function toCall(purchase: Purchase, answer: InstanceAnswer): Call {
  const { status, body, transaction, json, headers } = answer;
  return {
    purchase,
    status,
    body,
    transaction,
    error: status === 200 ? null : String(json['error']),
    isRedelivered: headers.get('x-redelivered') === '1',
  };
}
