/** A process that scans as the service does, and tells what it cost. Run with --expose-gc. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openProbeThread } from '../../src/probe/client/probe-thread.ts';
import { cells, startEngine } from '../scan/engine-under-test.ts';
import { SHORT_CLOCKS } from './short-clocks.ts';

export type RoundAsked = {
  readonly urls: readonly string[];
  readonly ca: string;
  /** Those of them that have as long as in earnest: 10 s a request. */
  readonly patient: readonly string[];
};

export type ScanTold = {
  readonly url: string;
  readonly cells: readonly string[];
  readonly score: number;
  readonly totalMs: number;
  /** Where there was no report. */
  readonly failure: string | null;
};

export type RoundTold = {
  readonly scans: readonly ScanTold[];
  /** After collecting garbage. */
  readonly rssMib: number;
  readonly peakMib: number;
  readonly delayP99Ms: number;
  readonly unhandled: readonly string[];
};

const MIB = 1_048_576;
const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
process.on('uncaughtException', (error) => unhandled.push(String(error.stack)));

const engine = await startEngine();
const thread = openProbeThread({
  onError: (message, error) => unhandled.push(`${message}: ${error}`),
});

process.on('disconnect', () => process.exit());
process.on('message', (asked: RoundAsked) => {
  play(asked).then((told) => process.send?.(told));
});
process.send?.({ rssMib: rss() });

async function play({ urls, ca, patient }: RoundAsked): Promise<RoundTold> {
  let peak = rss();
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() / MIB);
  }, 50);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const scans = await Promise.all(urls.map((url) => scan(url, ca, patient.includes(url))));
  delay.disable();
  clearInterval(watching);
  const delayP99Ms = delay.percentile(99) / 1e6;
  return { scans, rssMib: rss(), peakMib: peak, delayP99Ms, unhandled: unhandled.splice(0) };
}

async function scan(url: string, ca: string, isPatient: boolean): Promise<ScanTold> {
  const began = performance.now();
  try {
    const outcome = await engine.scan(url, undefined, {
      ...(isPatient ? {} : { limits: SHORT_CLOCKS }),
      extraCa: [ca],
      createClient: thread.createClient,
    });
    const { score } = outcome.report;
    const totalMs = performance.now() - began;
    return { url, cells: cells(outcome), score, totalMs, failure: null };
  } catch (error) {
    const totalMs = performance.now() - began;
    return { url, cells: [], score: 0, totalMs, failure: String(error) };
  }
}

function rss(): number {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  globalThis.gc();
  return process.memoryUsage.rss() / MIB;
}
