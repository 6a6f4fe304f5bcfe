/** Sales over HTTP, from the signed header to the last byte of the answer. */
import { type InstanceProcess, startInstance } from '../../hosts/instance-process.ts';
import { newPurchase, type PaidOperation, type Purchase } from '../../hosts/purchase.ts';
import { startFarm } from '../farm/seller-farm.ts';
import { processorSeconds } from '../measured-instance.ts';
import type { BenchCase, Effort, Measurement } from '../measurement.ts';
import { newDataFolder } from '../seeded-store.ts';

const AT_ONCE = 20;
const DAY_SECONDS = 86_400;
const CHANGES = '/v1/changes?since=2026-01-01T00:00:00Z';

/** Sales over HTTP with mock settlement: of a scan, and of what needs no work, so that only the sale is left. */
const sales: BenchCase = async (effort) => [
  ...(await scansSold(effort)),
  ...(await changesSold(effort)),
];

export default sales;

async function scansSold({ isQuick }: Effort): Promise<readonly Measurement[]> {
  const count = isQuick ? 2 : AT_ONCE;
  const rounds = isQuick ? 1 : 4;
  await using folder = await newDataFolder('disk');
  await using farm = await startFarm({ kind: 'good', count, delayMs: 80 });
  const instance = await startInstance({
    STORE_URL: `sqlite:${folder.database}`,
    SCAN_ALLOW_HOSTS: farm.urls.map((url) => new URL(url).host).join(','),
    RATE_LIMIT: 'off',
  });
  const buyAll = async () => {
    const signed = await signedFor('scan', count);
    const startMs = performance.now();
    await Promise.all(farm.urls.map((url, n) => buyScan(instance, url, signed[n] as Purchase))); // as many as urls
    return performance.now() - startMs;
  };
  const measure = async () => {
    const before = await processorSeconds(instance);
    let tookMs = 0;
    for (let round = 0; round < rounds; round += 1) tookMs += await buyAll();
    return { tookMs, seconds: ((await processorSeconds(instance)) - before) / (count * rounds) };
  };
  try {
    await buyAll();
    const { tookMs, seconds } = await measure();
    await measure();
    const hot = await measure();
    return [
      { what: `${count} at once`, value: (count * rounds * 1_000) / tookMs, unit: 'sales/s' },
      { what: 'processor time of a sale', value: seconds * 1_000, unit: 'ms', note: 'all threads' },
      {
        what: 'the same, code hot',
        value: hot.seconds * 1_000,
        unit: 'ms',
        note: `after ${count * (1 + 2 * rounds)} sales`,
      },
      { what: 'sales a day and core', value: DAY_SECONDS / seconds, unit: 'sales' },
    ];
  } finally {
    await instance.kill();
  }
}

async function changesSold({ isQuick }: Effort): Promise<readonly Measurement[]> {
  const count = isQuick ? 2 : 200;
  await using folder = await newDataFolder('disk');
  const instance = await startInstance({
    STORE_URL: `sqlite:${folder.database}`,
    RATE_LIMIT: 'off',
  });
  /** One after the other; the processor time of each, ms. */
  const buy = async (times: number) => {
    const signed = await signedFor('changes', times);
    const before = await processorSeconds(instance);
    for (const { headers } of signed) {
      const { status, body } = await instance.get(CHANGES, headers);
      if (status !== 200) throw new Error(`paid changes answered ${status}: ${body}`);
    }
    return (((await processorSeconds(instance)) - before) * 1_000) / times;
  };
  try {
    await instance.get('/v1/status');
    const first = await buy(1);
    await buy(count);
    const note = 'all threads, code hot';
    return [
      { what: 'the first payment after a start', value: first, unit: 'ms', note: 'changes' },
      { what: 'a sale without a scan', value: await buy(count), unit: 'ms', note },
    ];
  } finally {
    await instance.kill();
  }
}

function signedFor(operation: PaidOperation, count: number): Promise<Purchase[]> {
  return Promise.all(Array.from({ length: count }, () => newPurchase(operation)));
}

async function buyScan(
  instance: InstanceProcess,
  url: string,
  { headers }: Purchase,
): Promise<void> {
  const { status, body } = await instance.post('/v1/scan', { url }, headers);
  if (status !== 200) throw new Error(`a paid scan answered ${status}: ${body}`);
}
