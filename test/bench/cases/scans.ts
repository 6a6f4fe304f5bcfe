/** Measures scans per second: of one seller at a time, and of twenty sellers at the same time. */
import { type Engine, openEngine } from '../engine.ts';
import { startFarm } from '../farm/seller-farm.ts';
import { type BenchCase, median } from '../measurement.ts';

const AT_ONCE = 20;
const DELAY_MS = 80;

const scans: BenchCase = async ({ isQuick }) => {
  const count = isQuick ? 2 : AT_ONCE;
  const scansPerSeller = isQuick ? 1 : 8;
  await using farm = await startFarm({ kind: 'good', count, delayMs: DELAY_MS });
  await using engine = await openEngine(farm.urls);
  await engine.warmUp();
  const [first = ''] = farm.urls;
  const sample = await engine.scan(first);
  if (sample.report.score < 90)
    throw new Error(`the seller of the bench got ${sample.report.score}`);
  await Promise.all(farm.urls.map((url) => engine.scan(url)));

  const alone = await scanRepeatedly(engine, first, isQuick ? 2 : 20);
  const cpuBefore = process.cpuUsage();
  const perSecond = await measureRate(count * scansPerSeller, async () => {
    await Promise.all(farm.urls.map((url) => scanRepeatedly(engine, url, scansPerSeller)));
  });
  const cpu = process.cpuUsage(cpuBefore);
  const cpuMs = (cpu.user + cpu.system) / 1_000 / (count * scansPerSeller);

  const note = `seller with ${DELAY_MS} ms`;
  const { requests, roundTrips } = sample.timing;
  return [
    { what: 'one scan at a time', value: median(alone.totals), unit: 'ms', note },
    { what: 'of which judging', value: median(alone.judging), unit: 'ms' },
    { what: 'requests of a scan', value: requests, unit: 'requests', note: `${roundTrips} deep` },
    { what: '1 at once', value: 1_000 / median(alone.totals), unit: 'scans/s' },
    {
      what: `${count} at once`,
      value: perSecond,
      unit: 'scans/s',
      note: `${count * scansPerSeller} scans, each seller's one after the other`,
    },
    {
      what: `${count} at once, of ${count} that do not share`,
      value: (perSecond * median(alone.totals)) / (1_000 * count),
      unit: 'x',
    },
    { what: 'processor time of a scan', value: cpuMs, unit: 'ms', note: 'all threads' },
  ];
};

export default scans;

async function scanRepeatedly(engine: Engine, url: string, times: number) {
  const totals: number[] = [];
  const judging: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const { timing } = await engine.scan(url);
    totals.push(timing.totalMs);
    judging.push(timing.judgeMs);
  }
  return { totals, judging };
}

async function measureRate(count: number, work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - startMs);
}
