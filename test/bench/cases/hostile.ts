/** Sellers that mean harm: what a scan of them costs this process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openEngine } from '../engine.ts';
import { startFarm } from '../farm/seller-farm.ts';
import type { BenchCase } from '../measurement.ts';

const AT_ONCE = 20;
/** The threads' heaps and buffers grow until they are warm, in one round or in two. */
const FURTHER_ROUNDS = 3;
const MIB = 1_024 * 1_024;
/** Shorter than in service: what drips and hangs takes time on the wall, and nothing else. */
const LIMITS = { requestTimeoutMs: 2_000, connectTimeoutMs: 700, dialTimeoutMs: 1_000 };

/** Measures the process that scans hostile sellers. */
const hostile: BenchCase = async ({ isQuick }) => {
  const count = isQuick ? 3 : AT_ONCE;
  await using farm = await startFarm({ kind: 'hostile', count, delayMs: 0 });
  await using engine = await openEngine(farm.urls, LIMITS);
  await engine.warmUp();
  const atRest = weight();
  const scanAll = () => Promise.all(farm.urls.map((url) => engine.scan(url)));
  await scanAll();
  const afterFirst = weight();

  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const rounds: { readonly kept: number; readonly peak: number; readonly results: number }[] = [];
  for (let before = afterFirst; rounds.length < FURTHER_ROUNDS; before = weight()) {
    let peak = before;
    const watching = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 100);
    const outcomes = await scanAll();
    clearInterval(watching);
    const results = Math.min(...outcomes.map(({ report }) => report.results.length));
    rounds.push({ kept: weight() - before, peak: peak - before, results });
  }
  delay.disable();

  const least = (of: (round: (typeof rounds)[number]) => number) => Math.min(...rounds.map(of));
  const mib = (bytes: number) => bytes / MIB;
  return [
    { what: 'scans at once', value: count, unit: 'scans' },
    {
      what: 'results of the poorest report',
      value: least(({ results }) => results),
      unit: 'results',
      note: '25',
    },
    {
      what: 'event loop delay, 99 of 100 under',
      value: delay.percentile(99) / 1e6,
      unit: 'ms',
      note: 'under 200 on an idle machine',
    },
    {
      what: 'memory kept by the first round',
      value: mib(afterFirst - atRest),
      unit: 'MiB',
      note: 'heaps of the threads, and buffers, which stay',
    },
    {
      what: 'memory kept by each further round, least of three',
      value: mib(least(({ kept }) => kept)),
      unit: 'MiB',
      note: 'under 64: a leak shows in every round',
    },
    {
      what: 'more at its worst moment, least of three',
      value: mib(least(({ peak }) => peak)),
      unit: 'MiB',
    },
  ];
};

export default hostile;

/** Resident bytes, garbage collected. */
function weight(): number {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  globalThis.gc();
  return process.memoryUsage.rss();
}
