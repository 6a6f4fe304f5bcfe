import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, threadId } from 'node:worker_threads';
import { deserializeFrozen } from '../parse/json/transfer.ts';
import type { Job, JobFailure, JobResult, Limit, LoadJob, ThreadMessage, Work } from './job.ts';

type Module = Readonly<Record<string, unknown>>;

/** Messages of RangeErrors that V8 throws for inputs that are too large. All other RangeErrors are defects of ours. */
const LIMIT_ERRORS: Readonly<Record<string, Limit>> = {
  'Maximum call stack size exceeded': 'stack',
  'Invalid string length': 'memory',
  'Array buffer allocation failed': 'memory',
  'Map maximum size exceeded': 'memory',
  'Set maximum size exceeded': 'memory',
};

const MAX_DETAIL_CHARS = 2_000;

/**
 * Piscina calls this function on the thread. After a failure the promise never resolves, and the main thread kills this
 * thread. No later task can then run in the state that a failed task left.
 */
async function perform(job: Job | LoadJob): Promise<JobResult> {
  if (job.kind === 'load') {
    await Promise.allSettled(job.modules.map(load));
    return { kind: 'done', output: null, cpuMs: 0 };
  }
  const { ticket } = job;
  let modules: readonly Module[];
  try {
    modules = await Promise.all(job.modules.map(load));
  } catch (error) {
    return await reportFailure(ticket, { kind: 'thread-failed', detail: toDetail(error) }, 0);
  }
  const cpu = readThreadCpu();
  const startMs = performance.now();
  const usedMs = () => (cpu === null ? performance.now() - startMs : readCpuMsSince(cpu));
  sendMessage({ kind: 'started', ticket, threadId, cpu });
  try {
    const output = await callTask(job, modules);
    const cpuMs = usedMs();
    // An unhandled rejection is thrown before `nextTurn` resolves. It then fails this task and not the next one.
    await nextTurn();
    return { kind: 'done', output, cpuMs };
  } catch (error) {
    return await reportFailure(ticket, toJobFailure(error), usedMs());
  }
}

// Piscina loads this module with `require`, which returns the export `module.exports` of an ES module
// (https://nodejs.org/api/modules.html#loading-ecmascript-modules-using-require). Without this export Node 24 creates a
// namespace object, and aborts the whole process if the thread is killed at that moment.
export { perform as default, perform as 'module.exports' };

function load(url: string): Promise<Module> {
  return import(url);
}

function callTask(work: Work, [module = {}, ...otherModules]: readonly Module[]): unknown {
  const { exportName, input, isRaw = false, mayReturnPromise = false } = work;
  const run = module[exportName];
  if (typeof run !== 'function') {
    throw new TypeError(`${work.modules[0]} exports no function ${exportName}.`);
  }
  const output: unknown = run(isRaw ? input : deserializeFrozen(input), ...otherModules);
  if (!mayReturnPromise && typeof output === 'object' && output !== null && 'then' in output) {
    throw new TypeError(`${exportName} returned a promise: tasks must be synchronous.`);
  }
  return output;
}

function readThreadCpu(): NodeJS.CpuUsage | null {
  return typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : null;
}

function readCpuMsSince(cpu: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(cpu);
  return (user + system) / 1_000;
}

function toJobFailure(error: unknown): JobFailure {
  if (error instanceof RangeError) {
    const limit = LIMIT_ERRORS[error.message];
    if (limit) return { kind: 'limit', limit };
  }
  return { kind: 'threw', detail: toDetail(error) };
}

/** A thrown value may be anything. */
function toDetail(error: unknown): string {
  const detail = error instanceof Error ? (error.stack ?? error.message) : typeof error;
  return detail.slice(0, MAX_DETAIL_CHARS);
}

function reportFailure(ticket: number, failure: JobFailure, cpuMs: number): Promise<never> {
  sendMessage({ kind: 'failed', ticket, failure, cpuMs });
  return new Promise(() => {});
}

function sendMessage(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
