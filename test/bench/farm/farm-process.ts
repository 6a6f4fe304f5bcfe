/** Serves what `startFarm` orders, one port a seller, until its parent is gone. */
import type { RequestListener } from 'node:http';
import { serve } from '../../fixtures/sellers/seller.ts';
import { createTestCa } from '../../fixtures/tls/test-ca.ts';
import { putAtDistance } from './distant-server.ts';
import { goodSeller } from './good-seller.ts';
import { hostileSeller } from './hostile-seller.ts';
import type { FarmOrder, FarmReport } from './seller-farm.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as FarmOrder; // as `startFarm` wrote it

const ca = order.kind === 'distant' ? await createTestCa() : null;
const certificate = await ca?.issue({ hosts: ['localhost'] });

function listenerOf(n: number): RequestListener {
  if (order.kind === 'hostile') return hostileSeller(n);
  return goodSeller(order.kind === 'good' ? order.delayMs : 0, order.posts);
}

async function urlOf(n: number): Promise<string> {
  const { url } = await serve(listenerOf(n), certificate, order.http2 ? 'spoken' : undefined);
  if (certificate === undefined) return url;
  return `https://localhost:${await putAtDistance(Number(new URL(url).port), order.delayMs)}`;
}

const urls = await Promise.all(Array.from({ length: order.count }, (_, n) => urlOf(n)));
process.on('disconnect', () => process.exit());
const report: FarmReport = { urls, ca: ca?.pem ?? null };
process.send?.(report);
