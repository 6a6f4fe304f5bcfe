/** A process that scans as the service does, and tells what it cost. Run with --expose-gc. */
import { enableCompileCache } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { collectAttempts, WATCH_FLAGS } from './connection-attempts.ts';
import { SHORT_CLOCKS } from './short-clocks.ts';

// `npm start` does this too. Otherwise each thread's compiler would count as memory of hostile origins.
enableCompileCache(fileURLToPath(new URL('../../.cache/compiled/', import.meta.url)));
const { createThreadEnvironment } = await import('../../src/scanner/workers/threads.ts');
const { openProbeThread } = await import('../../src/scanner/probe/client/probe-thread.ts');
const { listCells, startEngine } = await import('../scanner/scan/engine-under-test.ts');

export type RoundAsked = {
  readonly urls: readonly string[];
  readonly ca: string;
  /** Those of them that have as long as in earnest: 10 s a request. */
  readonly patient: readonly string[];
  /** The only servers that may be connected to. */
  readonly own: readonly string[];
  /** Waits until the process is at rest before it tells what it holds. */
  readonly toRest: boolean;
};

export type ScanTold = {
  readonly url: string;
  readonly cells: readonly string[];
  readonly score: number;
  readonly totalMs: number;
  /** Set if there was no report. */
  readonly failure: string | null;
};

export type RoundTold = {
  readonly scans: readonly ScanTold[];
  /** At rest, if that was asked for: killed threads are there again, garbage is collected. */
  readonly rssMib: number;
  readonly peakMib: number;
  readonly delayP99Ms: number;
  readonly unhandled: readonly string[];
  /** Connections that were attempted to any other server. */
  readonly outside: readonly string[];
};

const MIB = 1_048_576;
/** For threads that boot, and for V8 to sweep what was collected. */
const SETTLE_MS = 1_500;
const SWEEP_MS = 300;
const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
process.on('uncaughtException', (error) => unhandled.push(String(error.stack)));

const engine = await startEngine();
const attemptsOutside = collectAttempts();
const thread = openProbeThread({
  execArgv: WATCH_FLAGS,
  environment: createThreadEnvironment(),
  onError: (message, error) => unhandled.push(`${message}: ${error}`),
});

process.on('disconnect', () => process.exit());
process.on('message', (round: RoundAsked) => {
  play(round).then((measurements) => process.send?.(measurements));
});
process.send?.({ rssMib: await rssMib(true) });

async function play({ urls, ca, patient, own, toRest }: RoundAsked): Promise<RoundTold> {
  let peak = 0;
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() / MIB);
  }, 50);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const scans = await Promise.all(urls.map((url) => scan(url, ca, patient.includes(url))));
  delay.disable();
  clearInterval(watching);
  const delayP99Ms = delay.percentile(99) / 1e6;
  const heldMib = await rssMib(toRest);
  const outside = attemptsOutside(own);
  const errors = unhandled.splice(0);
  return { scans, rssMib: heldMib, peakMib: peak, delayP99Ms, unhandled: errors, outside };
}

async function scan(url: string, ca: string, isPatient: boolean): Promise<ScanTold> {
  const startMs = performance.now();
  try {
    const outcome = await engine.scan(url, undefined, {
      ...(isPatient ? {} : { limits: SHORT_CLOCKS }),
      extraCa: [ca],
      createClient: thread.createClient,
    });
    const { score } = outcome.report;
    const totalMs = performance.now() - startMs;
    return { url, cells: listCells(outcome), score, totalMs, failure: null };
  } catch (error) {
    const totalMs = performance.now() - startMs;
    return { url, cells: [], score: 0, totalMs, failure: String(error) };
  }
}

async function rssMib(atRest: boolean): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  if (atRest) await pause(SETTLE_MS);
  globalThis.gc();
  if (atRest) await pause(SWEEP_MS);
  return process.memoryUsage.rss() / MIB;
}
