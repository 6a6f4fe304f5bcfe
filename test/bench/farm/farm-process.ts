/** Serves what `startFarm` orders, one port a seller, until its parent is gone. */
import type { RequestListener } from 'node:http';
import { serve } from '../../fixtures/sellers/seller.ts';
import { goodSeller } from './good-seller.ts';
import { hostileSeller } from './hostile-seller.ts';
import type { FarmOrder } from './seller-farm.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as FarmOrder; // as `startFarm` wrote it

function listenerOf(n: number): RequestListener {
  return order.kind === 'good' ? goodSeller(order.delayMs) : hostileSeller(n);
}

const sellers = await Promise.all(
  Array.from({ length: order.count }, (_, n) => serve(listenerOf(n))),
);
process.on('disconnect', () => process.exit());
process.send?.(sellers.map(({ url }) => url));
