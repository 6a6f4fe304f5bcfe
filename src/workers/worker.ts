import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, threadId } from 'node:worker_threads';
import { deserializeFrozen } from '../parse/json/transfer.ts';
import type { Job, JobFailure, JobResult, Limit, LoadJob, ThreadMessage, Work } from './job.ts';

type Module = Readonly<Record<string, unknown>>;

/** RangeErrors by which V8 says that an input was too much; every other one is a defect of ours. */
const LIMIT_ERRORS: Readonly<Record<string, Limit>> = {
  'Maximum call stack size exceeded': 'stack',
  'Invalid string length': 'memory',
  'Array buffer allocation failed': 'memory',
  'Map maximum size exceeded': 'memory',
  'Set maximum size exceeded': 'memory',
};

const MAX_DETAIL_CHARS = 2_000;
const LOADED: JobResult = { kind: 'done', output: null, cpuMs: 0 };

/**
 * Piscina calls this function on the thread. After a failure the promise never resolves: the main thread kills
 * the thread, so that no later task runs in the state of a failed one.
 */
async function perform(job: Job | LoadJob): Promise<JobResult> {
  if (job.kind === 'load') {
    await Promise.allSettled(job.modules.map(load));
    return LOADED;
  }
  const { ticket } = job;
  let modules: readonly Module[];
  try {
    modules = await Promise.all(job.modules.map(load));
  } catch (error) {
    return await fail(ticket, { kind: 'trouble', detail: describe(error) }, 0);
  }
  const cpu = threadCpu();
  const began = performance.now();
  const usedMs = () => (cpu === null ? performance.now() - began : millisecondsSince(cpu));
  say({ kind: 'started', ticket, threadId, cpu });
  try {
    const output = await outputOf(job, modules);
    const cpuMs = usedMs();
    // An unhandled rejection surfaces before this resolves, and fails this task, not the next one.
    await nextTurn();
    return { kind: 'done', output, cpuMs };
  } catch (error) {
    return await fail(ticket, failureOf(error), usedMs());
  }
}

// Piscina requires this module. `module.exports` is what a module that is imported gives to `require`
// (https://nodejs.org/api/modules.html#loading-ecmascript-modules-using-require); without it Node 24 makes a
// namespace of its own, and aborts the whole process when the thread is ended in that moment.
export { perform as default, perform as 'module.exports' };

function load(url: string): Promise<Module> {
  return import(url);
}

function outputOf(work: Work, [module = {}, ...others]: readonly Module[]): unknown {
  const { exportName, input, isRaw = false, mayWait = false } = work;
  const task = module[exportName];
  if (typeof task !== 'function') {
    throw new TypeError(`${work.modules[0]} exports no function ${exportName}.`);
  }
  const output: unknown = task(isRaw ? input : deserializeFrozen(input), ...others);
  if (!mayWait && typeof output === 'object' && output !== null && 'then' in output) {
    throw new TypeError(`${exportName} returned a promise: tasks must be synchronous.`);
  }
  return output;
}

function threadCpu(): NodeJS.CpuUsage | null {
  return typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : null;
}

function millisecondsSince(cpu: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(cpu);
  return (user + system) / 1_000;
}

function failureOf(error: unknown): JobFailure {
  if (error instanceof RangeError) {
    const limit = LIMIT_ERRORS[error.message];
    if (limit) return { kind: 'limit', limit };
  }
  return { kind: 'threw', detail: describe(error) };
}

/** Anything can be thrown, even what has no text. */
function describe(error: unknown): string {
  const detail = error instanceof Error ? (error.stack ?? error.message) : typeof error;
  return detail.slice(0, MAX_DETAIL_CHARS);
}

function fail(ticket: number, failure: JobFailure, cpuMs: number): Promise<never> {
  say({ kind: 'failed', ticket, failure, cpuMs });
  return new Promise(() => {});
}

function say(said: ThreadMessage): void {
  parentPort?.postMessage(said);
}
