/**
 * A process of its own that scans many origins at once and tells what it cost: memory and delays of
 * the servers under test are not its own. Run with --expose-gc and the origins as arguments.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startEngine } from './engine-under-test.ts';

export type ScanCosts = {
  readonly scans: readonly {
    readonly url: string;
    readonly results: number;
    readonly score: number;
    readonly totalMs: number;
  }[];
  /** Per round, beyond what the process held before it, garbage collected. */
  readonly grownMib: readonly number[];
  /** Per round, the highest that was seen while its scans ran, beyond the same. */
  readonly peakMib: readonly number[];
  readonly delayP99Ms: number;
  readonly unhandled: readonly string[];
};

const MIB = 1_048_576;
/** A leak grows in every round; what the collector has not got to does not. */
const ROUNDS = 3;
const LIMITS = { requestTimeoutMs: 2_000, connectTimeoutMs: 700, dialTimeoutMs: 1_000 };

const urls = process.argv.slice(2);
const engine = await startEngine();
// This scan comes before any measurement: it loads modules and allocates worker heaps and buffers.
await Promise.all(urls.map((url) => engine.scan(url, undefined, { limits: LIMITS })));

const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
process.on('uncaughtException', (error) => unhandled.push(String(error.stack)));

const before = rss();
let peak = before;
const watching = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 50);
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
const scans: ScanCosts['scans'][number][] = [];
const grownMib: number[] = [];
const peakMib: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  peak = before;
  scans.push(...(await Promise.all(urls.map(scanOnce))));
  peakMib.push((peak - before) / MIB);
  grownMib.push((rss() - before) / MIB);
}
delay.disable();
clearInterval(watching);
const delayP99Ms = delay.percentile(99) / 1e6;
const costs: ScanCosts = { scans, grownMib, peakMib, delayP99Ms, unhandled };
await engine[Symbol.asyncDispose]();
process.stdout.write(`${JSON.stringify(costs)}\n`);

async function scanOnce(url: string) {
  const { report, timing } = await engine.scan(url, undefined, { limits: LIMITS });
  return { url, results: report.results.length, score: report.score, totalMs: timing.totalMs };
}

function rss(): number {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  globalThis.gc();
  return process.memoryUsage.rss();
}
