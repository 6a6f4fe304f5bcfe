/** Promises that two instances on one store keep together, with any facilitator. */
import type { Hex } from 'viem';
import { expect } from 'vitest';
import { countSteps, type Fleet, unfinishedKeys } from './fleet.ts';
import type { HeldSeller } from './held-seller.ts';
import type { InstanceAnswer, InstanceProcess } from './instance-process.ts';
import { newPurchase, type Purchase } from './purchase.ts';

export type Pair = {
  readonly fleet: Fleet;
  readonly one: InstanceProcess;
  readonly other: InstanceProcess;
};

/** An account that can pay if money is real; any account if it is not. */
export type AccountSource = () => Promise<Hex | undefined>;

const PAYERS = 10;
const PATIENCE = { timeout: 50_000, interval: 100 };

export async function expectOneScanForTenPayers(
  { fleet, one, other }: Pair,
  seller: HeldSeller,
  account: AccountSource,
): Promise<readonly Purchase[]> {
  seller.hold();
  const instances = [one, other];
  const verifiedBefore = await Promise.all(instances.map(verifications));
  const purchases = await Promise.all(
    Array.from({ length: PAYERS }, async () => newPurchase('scan', await account())),
  );
  const paying = purchases.map((purchase, index) =>
    buyScan(index % 2 === 0 ? one : other, seller, purchase),
  );
  // A claim is not enough: its payment may be verified when the scan has ended, and begin another.
  await expect.poll(() => unfinishedKeys(fleet), PATIENCE).toBe(PAYERS);
  for (const [index, instance] of instances.entries()) {
    const all = (verifiedBefore[index] ?? 0) + PAYERS / instances.length;
    await expect.poll(() => verifications(instance), PATIENCE).toBe(all);
    await expect.poll(() => metricOf(instance, 'scans_running'), PATIENCE).toBe(1);
  }
  // Held for longer than a scan waits for one answer, it asks the root again: once more is not a scan.
  expect(seller.scans()).toBeGreaterThan(0);
  seller.release();
  const answers = await Promise.all(paying);
  const scansSeen = seller.scans();

  expect(answers.map(({ status }) => status)).toEqual(Array(PAYERS).fill(200));
  expect(await scansSold(fleet, purchases)).toBe(1);
  expect(new Set(answers.map(({ json }) => json['scannedAt'])).size).toBe(1);
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(PAYERS);
  for (const purchase of purchases) expect(await countSteps(fleet, purchase, 'settled')).toBe(1);

  // Each can be had again, from the instance that it was not bought of, and costs nothing more.
  for (const [index, purchase] of purchases.entries()) {
    const again = await buyScan(index % 2 === 0 ? other : one, seller, purchase);
    expectRedelivery(again, answers[index]);
    expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
  }
  expect(seller.scans()).toBe(scansSeen);
  return purchases;
}

/** Counts the scans that the ledger names as answers to these purchases. */
async function scansSold({ store }: Fleet, purchases: readonly Purchase[]): Promise<number> {
  const entries = await Promise.all(purchases.map(({ key }) => store.ledger.findEntry(key)));
  return new Set(entries.map((entry) => entry?.last.scanId)).size;
}

function verifications(instance: InstanceProcess): Promise<number> {
  return metricOf(instance, 'payments_verified_total{outcome="valid"}');
}

/** Zero if the instance has not counted it yet. */
export async function metricOf(instance: InstanceProcess, name: string): Promise<number> {
  const { body } = await instance.get('/metrics');
  const line = body.split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

export async function expectOneSaleOfOneHeader(
  { fleet, one, other }: Pair,
  seller: HeldSeller,
  account: AccountSource,
): Promise<Purchase> {
  seller.hold();
  const purchase = await newPurchase('scan', await account());
  const buying = [one, other, one, other].map((instance) => buyScan(instance, seller, purchase));
  await expect.poll(() => seller.scans(), PATIENCE).toBe(1);
  seller.release();
  const answers = await Promise.all(buying);

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1);
  expect(seller.scans()).toBe(1);
  expect(await countSteps(fleet, purchase, 'claimed')).toBe(1);
  expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
  return purchase;
}

export function buyScan(
  instance: InstanceProcess,
  seller: HeldSeller,
  { headers, client }: Purchase,
  signal?: AbortSignal,
): Promise<InstanceAnswer> {
  return instance.post('/v1/scan', { url: seller.url }, { ...client, ...headers }, signal);
}

/** The very bytes that were bought, and the very transaction. */
export function expectRedelivery(again: InstanceAnswer, bought: InstanceAnswer | undefined): void {
  expect(again.status).toBe(200);
  expect(again.headers.get('x-redelivered')).toBe('1');
  expect(again.body).toBe(bought?.body);
  expect(again.transaction).toBe(bought?.transaction);
}
