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
  const { kind, delayMs, posts, answerMs } = order;
  const seller = goodSeller(kind === 'good' ? delayMs : 0, posts);
  return answerMs === undefined ? seller : oneByOne(seller, answerMs);
}

/** Answers the requests of one connection one after the other, as proxies answer pipelined requests. */
function oneByOne(listener: RequestListener, answerMs: number): RequestListener {
  const last = new WeakMap<object, Promise<void>>();
  return async (request, response) => {
    const turn = last.get(request.socket);
    const done = Promise.withResolvers<void>();
    last.set(request.socket, done.promise);
    response.once('close', done.resolve);
    await turn;
    setTimeout(() => listener(request, response), answerMs);
  };
}

async function urlOf(n: number): Promise<string> {
  const { url } = await serve(listenerOf(n), certificate);
  if (certificate === undefined) return url;
  return `https://localhost:${await putAtDistance(Number(new URL(url).port), order.delayMs)}`;
}

const urls = await Promise.all(Array.from({ length: order.count }, (_, n) => urlOf(n)));
process.on('disconnect', () => process.exit());
const report: FarmReport = { urls, ca: ca?.pem ?? null };
process.send?.(report);
