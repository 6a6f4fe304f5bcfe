/**
 * Runs in a worker thread: loads a module, says that it starts, does one job, answers. The host
 * measures and kills; this side catches what can be caught and turns it into values.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { deserializeFrozen } from '../../parse/json/transfer.ts';
import type { CheckDefinition } from '../define-check.ts';
import type { Limit } from '../errors.ts';
import { readVerdict } from '../read-verdict.ts';
import { collectGarbage } from './collect.ts';
import {
  type Answer,
  type Failure,
  type Job,
  type JudgeJob,
  type JudgeTogetherJob,
  type LoadJob,
  modulesOf,
  type RunJob,
  type Said,
} from './job.ts';
import { loadModule } from './load-module.ts';
import { createScanMemo } from './scan-memo.ts';

/** RangeErrors by which V8 says that an input was too much; every other one is a defect of ours. */
const LIMIT_ERRORS: Readonly<Record<string, Limit>> = {
  'Maximum call stack size exceeded': 'stack',
  'Invalid string length': 'memory',
  'Array buffer allocation failed': 'memory',
  'Map maximum size exceeded': 'memory',
  'Set maximum size exceeded': 'memory',
};

const MAX_DETAIL_CHARS = 2_000;

/** A thread without a job for so long gives back what its last scans have left. */
const REST_MS = 500;

/** What outlives a job. */
const memo = createScanMemo();
let rest: NodeJS.Timeout | undefined;

/** One job, answered in any case: it rejects where the thread is to end. */
async function work(job: Job | LoadJob): Promise<Answer> {
  const answer = job.kind === 'load' ? await load(job) : await perform(job);
  if (answer.kind !== 'done') memo.forget();
  // An unhandled rejection surfaces before this resolves, and so fails its own job
  // instead of the next one on this thread.
  await nextTurn();
  clearTimeout(rest);
  rest = setTimeout(collectGarbage, REST_MS).unref();
  return answer;
}

async function load({ modules }: LoadJob): Promise<Answer> {
  await Promise.allSettled(modules.map(loadModule));
  return { kind: 'done', output: null, cpuMs: 0 };
}

async function perform(job: Job): Promise<Answer> {
  let modules: readonly Readonly<Record<string, unknown>>[];
  try {
    modules = await Promise.all(modulesOf(job).map(loadModule));
  } catch (error) {
    return { kind: 'trouble', detail: describe(error), cpuMs: 0 };
  }
  const before = threadCpu();
  say({ kind: 'started', ticket: job.ticket, cpu: before });
  const began = performance.now();
  const cpuMs = () => {
    const used = before === null ? null : threadCpu(before);
    return used === null ? performance.now() - began : (used.user + used.system) / 1_000;
  };
  try {
    const output = outputOf(job, modules);
    return {
      kind: 'done',
      output,
      cpuMs: cpuMs(),
    };
  } catch (error) {
    return { ...toFailure(error), cpuMs: cpuMs() };
  }
}

function outputOf(job: Job, modules: readonly Readonly<Record<string, unknown>>[]): unknown {
  if (job.kind === 'judge-together') return judgeTogether(job, modules);
  const [module = {}] = modules;
  return job.kind === 'judge' ? judge(job, module) : run(job, module);
}

/** Fewer verdicts than checks where one failed: after that nothing here is trusted. */
function judgeTogether(
  { checks, scanKey, seen }: JudgeTogetherJob,
  modules: readonly Readonly<Record<string, unknown>>[],
): readonly unknown[] {
  const verdicts: unknown[] = [];
  try {
    for (const [at, { module, needs }] of checks.entries()) {
      const needed = seen.filter(({ name }) => needs.includes(name));
      verdicts.push(judge({ module, scanKey, seen: needed }, modules[at] ?? {}));
    }
  } catch {
    // It is judged again alone, and says then what is wrong.
    memo.forget();
  }
  return verdicts;
}

/** Null where Node does not tell (before 23.9). */
function threadCpu(since?: NodeJS.CpuUsage): NodeJS.CpuUsage | null {
  return typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage(since) : null;
}

function judge(
  job: Pick<JudgeJob, 'module' | 'scanKey' | 'seen'>,
  module: Readonly<Record<string, unknown>>,
): unknown {
  const check = module['default'];
  if (!isDefinition(check)) throw new TypeError(`${job.module} exports no check as its default.`);
  const seen = memo.seen(job.scanKey, job.seen);
  return readVerdict(check.evaluate(seen, memo.kit(job.scanKey)), check.outcomes);
}

function run(job: RunJob, module: Readonly<Record<string, unknown>>): unknown {
  const task = module[job.exportName];
  if (typeof task !== 'function') {
    throw new TypeError(`${job.module} exports no function ${job.exportName}.`);
  }
  const output: unknown = task(deserializeFrozen(job.input));
  if (typeof output === 'object' && output !== null && 'then' in output) {
    throw new TypeError(`${job.exportName} returned a promise: tasks must be synchronous.`);
  }
  return output;
}

type Evaluable = {
  readonly outcomes: CheckDefinition['outcomes'];
  evaluate(seen: unknown, kit: unknown): unknown;
};

/** Discovery has validated the rest of the definition in the host. */
function isDefinition(value: unknown): value is Evaluable {
  return typeof value === 'object' && value !== null && 'evaluate' in value && 'outcomes' in value;
}

function toFailure(error: unknown): Failure {
  if (error instanceof RangeError) {
    const limit = LIMIT_ERRORS[error.message];
    if (limit) return { kind: 'limit', limit };
  }
  return { kind: 'threw', detail: describe(error) };
}

/** Whatever was thrown, even what cannot be made a text of. */
function describe(error: unknown): string {
  const detail = error instanceof Error ? (error.stack ?? error.message) : typeof error;
  return detail.slice(0, MAX_DETAIL_CHARS);
}

function say(said: Said): void {
  parentPort?.postMessage(said);
}

async function answer(job: Job | LoadJob): Promise<void> {
  const { ticket } = job;
  const answered = await work(job);
  try {
    say({ kind: 'answer', ticket, answer: answered });
  } catch (error) {
    // Its output is no plain data.
    const { cpuMs } = answered;
    say({ kind: 'answer', ticket, answer: { kind: 'threw', detail: describe(error), cpuMs } });
  }
}

/** One after the other: a job that is being done is alone on its thread. */
let last = Promise.resolve();
parentPort?.on('message', (job: Job | LoadJob) => {
  last = last.then(() => answer(job));
});
