/** Paid scans over HTTP, from the signed header to the published report. */
import { startHost } from '../../hosts/host-process.ts';
import { newPurchase, type Purchase } from '../../hosts/purchase.ts';
import { startFarm } from '../farm/seller-farm.ts';
import type { BenchCase } from '../measurement.ts';
import { processorSeconds } from '../processor-time.ts';
import { newDataFolder } from '../seeded-store.ts';

const AT_ONCE = 20;
const DAY_SECONDS = 86_400;

/** Paid scans over HTTP, from the signed header to the published report, with mock settlement. */
const sales: BenchCase = async ({ isQuick }) => {
  const count = isQuick ? 2 : AT_ONCE;
  const rounds = isQuick ? 1 : 4;
  await using folder = await newDataFolder('disk');
  await using farm = await startFarm({ kind: 'good', count, delayMs: 80 });
  const host = await startHost({
    STORE_URL: `sqlite:${folder.database}`,
    SCAN_ALLOW_HOSTS: farm.urls.map((url) => new URL(url).host).join(','),
    RATE_LIMIT: 'off',
  });
  const buy = async (url: string, { headers }: Purchase) => {
    const { status, body } = await host.post('/v1/scan', { url }, headers);
    if (status !== 200) throw new Error(`a paid scan answered ${status}: ${body}`);
  };
  const buyAll = async () => {
    const signed = await Promise.all(farm.urls.map(() => newPurchase('scan')));
    const began = performance.now();
    await Promise.all(farm.urls.map((url, n) => buy(url, signed[n] as Purchase))); // as many as urls
    return performance.now() - began;
  };
  try {
    await buyAll();
    const before = await processorSeconds(host);
    let tookMs = 0;
    for (let round = 0; round < rounds; round += 1) tookMs += await buyAll();
    const seconds = ((await processorSeconds(host)) - before) / (count * rounds);
    return [
      { what: `${count} at once`, value: (count * rounds * 1_000) / tookMs, unit: 'sales/s' },
      { what: 'processor time of a sale', value: seconds * 1_000, unit: 'ms', note: 'all threads' },
      { what: 'sales a day and core', value: DAY_SECONDS / seconds, unit: 'sales' },
    ];
  } finally {
    await host.kill();
  }
};

export default sales;
