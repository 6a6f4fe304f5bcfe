/** The five invariants of payments, checked against the chain after each sale and after all. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isTerminal } from '../../src/service/store/ledger.ts';
import { TERMS } from '../service/payment/payer.ts';
import { countSteps } from './fleet.ts';
import { type Purchase, priceOf } from './purchase.ts';
import type { StopRig } from './stop-rig.ts';
import { type Call, callOf, type PlayedSale } from './stopped-sale.ts';

const ENDS_WITHIN_MS = 60_000;
const POLL_MS = 50;

/** 1 to 4, of the authorizations of one sale. Answers how many of them were settled. */
export async function checkSale(rig: StopRig, played: PlayedSale): Promise<number> {
  const purchases = [...new Set(played.calls.map(({ purchase }) => purchase))];
  for (const purchase of purchases) await untilEnded(rig, purchase);
  const settled: Purchase[] = [];
  for (const purchase of purchases) {
    if (await isSettled(rig, purchase)) settled.push(purchase);
  }
  for (const purchase of purchases) {
    const calls = played.calls.filter((call) => call.purchase === purchase);
    if (settled.includes(purchase)) await checkRetrievable(rig, played, purchase);
    else checkRefused(calls);
  }
  await checkAnswers(rig, played.calls, settled);
  await checkPurses(rig, played, settled);
  return settled.length;
}

/** 5: what was earned is what the distinct answers that can be had cost. */
export async function checkTotal({ chain }: StopRig, settled: number): Promise<void> {
  assert.equal(await chain.balanceOf(TERMS.payTo), priceOf('scan') * BigInt(settled), 'total');
}

/**
 * Whatever can settle has settled. A payment that was never taken stays in doubt if the payer
 * has nothing left: only time proves that it failed, 10 minutes after it ended.
 */
async function untilEnded(rig: StopRig, purchase: Purchase): Promise<void> {
  const { chain, fleet } = rig;
  const endMs = performance.now() + ENDS_WITHIN_MS;
  for (;;) {
    const entry = await fleet.store.ledger.findEntry(purchase.key);
    if (entry === null || isTerminal(entry.last.state)) return;
    const canPay = (await chain.balanceOf(purchase.address)) >= priceOf('scan');
    const inDoubt = entry.last.state === 'unknown';
    if (inDoubt && !canPay && !(await isSettled(rig, purchase))) return;
    assert(performance.now() < endMs, `a payment stays ${entry.last.state}`);
    await pause(POLL_MS);
  }
}

function isSettled({ chain }: StopRig, { address, nonce }: Purchase): Promise<boolean> {
  return chain.authorizationUsed(address, nonce);
}

/** 1: whatever was settled is had again, at either instance, uncharged, as it was. */
async function checkRetrievable(
  rig: StopRig,
  { calls, seller }: PlayedSale,
  purchase: Purchase,
): Promise<void> {
  assert.equal(await countSteps(rig.fleet, purchase, 'settled'), 1, 'settled on the chain alone');
  const balance = await rig.chain.balanceOf(purchase.address);
  const bodies = new Set<string>();
  for (const { instance } of rig.instances) {
    const again = await untilWhole(() => callOf(instance, seller, purchase));
    assert.equal(again.status, 200, `settled, and answered ${again.status} ${again.error}`);
    bodies.add(again.body);
  }
  // Its caller may also have been given what another authorization of the payer had bought.
  const transaction = await transactionOf(rig.fleet, purchase.key);
  for (const call of calls) {
    if (call.status === 200 && call.transaction === transaction) bodies.add(call.body);
  }
  assert.equal(bodies.size, 1, 'one payment was answered in several ways');
  assert.equal(await rig.chain.balanceOf(purchase.address), balance, 'charged for a redelivery');
}

/** 2: a 200 is never free, nor is any other status ever charged. */
function checkRefused(calls: readonly Call[]): void {
  for (const { status, isRedelivered } of calls) {
    assert(status !== 200 || isRedelivered, 'a 200 that nobody paid for');
  }
}

/** 2: each 200 names a settlement of its payer; each other status but one has settled nothing. */
async function checkAnswers(
  { fleet }: StopRig,
  calls: readonly Call[],
  settled: readonly Purchase[],
): Promise<void> {
  for (const { purchase, status, transaction } of calls) {
    if (status !== 200) continue;
    const own = settled.filter(({ address }) => address === purchase.address);
    const named = await Promise.all(own.map(({ key }) => transactionOf(fleet, key)));
    assert(named.includes(transaction), `a 200 names ${transaction}, not one of ${named}`);
  }
  for (const purchase of settled) {
    const own = calls.filter((call) => call.purchase === purchase);
    const mayHaveSettled = own.some(
      ({ status, error }) => [0, 200].includes(status) || error === 'settlement_unknown',
    );
    const statuses = own.map(({ status, error }) => `${status} ${error}`).join(', ');
    assert(mayHaveSettled, `settled, and its payer was told ${statuses}`);
  }
}

async function transactionOf({ store }: StopRig['fleet'], key: string): Promise<string | null> {
  const rows = await store.ledger.findAllSteps(key);
  const row = rows.findLast(({ data }) => typeof data['transaction'] === 'string');
  return row === undefined ? null : String(row.data['transaction']);
}

/** 2 and 4: every payer has paid the price of the settled authorizations, and nothing else. */
async function checkPurses(
  { chain }: StopRig,
  { sale, calls }: PlayedSale,
  settled: readonly Purchase[],
): Promise<void> {
  const [first] = calls;
  for (const address of new Set(calls.map(({ purchase }) => purchase.address))) {
    const purse = address === first?.purchase.address ? sale.purse : 1;
    const paid = settled.filter((purchase) => purchase.address === address).length;
    const left = priceOf('scan') * BigInt(purse - paid);
    assert.equal(await chain.balanceOf(address), left, `${address} paid something else`);
  }
}

/** A connection that a stopped instance kept may break; that says nothing of the payment. */
async function untilWhole(ask: () => Promise<Call>): Promise<Call> {
  for (let tries = 1; ; tries += 1) {
    const call = await ask();
    if (call.status !== 0 || tries === 3) return call;
  }
}
