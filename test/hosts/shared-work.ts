/** What any two hosts on one store must do together, whatever settles. */
import type { Hex } from 'viem';
import { expect } from 'vitest';
import { type Fleet, stepsOf, unfinishedKeys } from './fleet.ts';
import type { HeldSeller } from './held-seller.ts';
import type { HostAnswer, HostProcess } from './host-process.ts';
import { newPurchase, type Purchase } from './purchase.ts';

export type Pair = {
  readonly fleet: Fleet;
  readonly one: HostProcess;
  readonly other: HostProcess;
};

/** An account that can pay where money is real; any account where it is not. */
export type AccountSource = () => Promise<Hex | undefined>;

const PAYERS = 10;
const PATIENCE = { timeout: 50_000, interval: 100 };

export async function expectOneScanForTenPayers(
  { fleet, one, other }: Pair,
  seller: HeldSeller,
  account: AccountSource,
): Promise<readonly Purchase[]> {
  seller.hold();
  const purchases = await Promise.all(
    Array.from({ length: PAYERS }, async () => newPurchase('scan', await account())),
  );
  const paying = purchases.map((purchase, index) =>
    buyScan(index % 2 === 0 ? one : other, seller, purchase),
  );
  // All have claimed before the first byte of the scan is answered: nobody comes late.
  await expect.poll(() => unfinishedKeys(fleet), PATIENCE).toBe(PAYERS);
  await expect.poll(() => seller.scans(), PATIENCE).toBe(1);
  seller.release();
  const answers = await Promise.all(paying);

  expect(answers.map(({ status }) => status)).toEqual(Array(PAYERS).fill(200));
  expect(seller.scans()).toBe(1);
  expect(new Set(answers.map(({ json }) => json['scannedAt'])).size).toBe(1);
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(PAYERS);
  for (const purchase of purchases) expect(await stepsOf(fleet, purchase, 'settled')).toBe(1);

  // Each can be had again, from the host that it was not bought of, and costs nothing more.
  for (const [index, purchase] of purchases.entries()) {
    const again = await buyScan(index % 2 === 0 ? other : one, seller, purchase);
    expectRedelivery(again, answers[index]);
    expect(await stepsOf(fleet, purchase, 'settled')).toBe(1);
  }
  expect(seller.scans()).toBe(1);
  return purchases;
}

export async function expectOneSaleOfOneHeader(
  { fleet, one, other }: Pair,
  seller: HeldSeller,
  account: AccountSource,
): Promise<Purchase> {
  seller.hold();
  const purchase = await newPurchase('scan', await account());
  const buying = [one, other, one, other].map((host) => buyScan(host, seller, purchase));
  await expect.poll(() => seller.scans(), PATIENCE).toBe(1);
  seller.release();
  const answers = await Promise.all(buying);

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1);
  expect(seller.scans()).toBe(1);
  expect(await stepsOf(fleet, purchase, 'claimed')).toBe(1);
  expect(await stepsOf(fleet, purchase, 'settled')).toBe(1);
  return purchase;
}

export function buyScan(
  host: HostProcess,
  seller: HeldSeller,
  { headers, client }: Purchase,
  signal?: AbortSignal,
): Promise<HostAnswer> {
  return host.post('/v1/scan', { url: seller.url }, { ...client, ...headers }, signal);
}

/** The very bytes that were bought, and the very transaction. */
export function expectRedelivery(again: HostAnswer, bought: HostAnswer | undefined): void {
  expect(again.status).toBe(200);
  expect(again.headers.get('x-redelivered')).toBe('1');
  expect(again.body).toBe(bought?.body);
  expect(again.transaction).toBe(bought?.transaction);
}
