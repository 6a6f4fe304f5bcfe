import { Pool } from 'undici';
import { openSqlite } from '../../../src/store/sqlite/store.ts';
import { startHost } from '../../hosts/host-process.ts';
import { type BenchCase, type Measurement, percentile } from '../measurement.ts';
import { processorSeconds } from '../processor-time.ts';
import { hostOf, newDataFolder, publishScans, sampleScan } from '../seeded-store.ts';

const CONNECTIONS = 16;

/** Free look-ups of one process on the embedded store, over HTTP. */
const reads: BenchCase = async ({ isQuick }) => {
  const hosts = isQuick ? 20 : 2_000;
  const durationMs = isQuick ? 100 : 3_000;
  await using folder = await newDataFolder('scratch');
  const store = openSqlite(folder.database);
  await publishScans(store, await sampleScan(), { hosts, withResults: true });
  await store.close();

  const host = await startHost({ STORE_URL: `sqlite:${folder.database}`, RATE_LIMIT: 'off' });
  try {
    const any = (n: number) => `https://${hostOf((n * 7_919) % hosts)}`;
    const paths: Readonly<Record<string, (n: number) => string>> = {
      '/v1/status': (n) => `/v1/status?url=${any(n)}`,
      '/v1/directory': (n) => `/v1/directory?pageSize=20&page=${(n % 5) + 1}`,
      '/v1/report': (n) => `/v1/report?url=${any(n)}`,
    };
    const rows: Measurement[] = [];
    for (const [what, path] of Object.entries(paths)) {
      await load(host.url, path, durationMs / 4);
      const cpuBefore = await processorSeconds(host);
      const { count, perSecond, p99Ms } = await load(host.url, path, durationMs);
      const perCore = count / ((await processorSeconds(host)) - cpuBefore);
      rows.push(
        { what, value: perSecond, unit: 'reads/s', note: `${hosts} hosts, ${CONNECTIONS} clients` },
        { what: `${what}, a second of a core`, value: perCore, unit: 'reads' },
        { what: `${what}, 99 of 100 within`, value: p99Ms, unit: 'ms' },
      );
    }
    return rows;
  } finally {
    await host.kill();
  }
};

export default reads;

async function load(url: string, path: (n: number) => string, durationMs: number) {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const taken: number[] = [];
  const began = performance.now();
  let n = 0;
  const client = async (): Promise<void> => {
    do {
      n += 1;
      const sent = performance.now();
      const { statusCode, body } = await pool.request({ method: 'GET', path: path(n) });
      await body.dump();
      if (statusCode !== 200) throw new Error(`${path(n)} answered ${statusCode}`);
      taken.push(performance.now() - sent);
    } while (performance.now() - began < durationMs);
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
  } finally {
    await pool.close();
  }
  const seconds = (performance.now() - began) / 1_000;
  return { count: taken.length, perSecond: taken.length / seconds, p99Ms: percentile(taken, 99) };
}
