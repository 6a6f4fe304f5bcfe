import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { warmUp } from '../../../src/scan/warm-up.ts';
import { openEngine } from '../engine.ts';
import { startFarm } from '../farm/seller-farm.ts';
import type { BenchCase } from '../measurement.ts';

const AT_ONCE = 20;
const MIB = 1_024 * 1_024;

/** What sellers that mean harm do to the process that scans them. */
const hostile: BenchCase = async ({ isQuick }) => {
  const count = isQuick ? 3 : AT_ONCE;
  await using farm = await startFarm({ kind: 'hostile', count, delayMs: 0 });
  await using engine = await openEngine(farm.urls);
  await warmUp(engine.parts);
  await settled();
  const rssBefore = process.memoryUsage.rss();
  let rssPeak = rssBefore;
  const watching = setInterval(() => {
    rssPeak = Math.max(rssPeak, process.memoryUsage.rss());
  }, 100);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const outcomes = await Promise.all(farm.urls.map((url) => engine.scan(url)));
  delay.disable();
  clearInterval(watching);
  await settled();

  const results = Math.min(...outcomes.map(({ report }) => report.results.length));
  const slowest = Math.max(...outcomes.map(({ timing }) => timing.totalMs));
  return [
    { what: 'scans at once', value: count, unit: 'scans' },
    { what: 'results of the poorest report', value: results, unit: 'results', note: '25' },
    { what: 'slowest scan', value: slowest / 1_000, unit: 's', note: 'under 75' },
    {
      what: 'event loop delay, 99 of 100 under',
      value: delay.percentile(99) / 1e6,
      unit: 'ms',
      note: 'under 200 on an idle machine',
    },
    {
      what: 'memory kept afterwards',
      value: (process.memoryUsage.rss() - rssBefore) / MIB,
      unit: 'MiB',
      note: 'under 64',
    },
    { what: 'memory at the worst moment', value: (rssPeak - rssBefore) / MIB, unit: 'MiB' },
  ];
};

export default hostile;

/** A moment in which sockets close and freed pages go back. */
async function settled(): Promise<void> {
  await pause(500);
}
