/**
 * One killable thread with the official clients. It boots when first needed, takes one challenge at
 * a time, and ends after a while without any; the next challenge boots another.
 */
import { Worker } from 'node:worker_threads';
import { armDeadline } from '../engine/pool/deadline.ts';
import { threadEnvironment } from '../engine/pool/thread-environment.ts';
import type { TrialJob, TrialMessage } from './job.ts';
import type { Trial } from './try-challenge.ts';

export type TrialLimits = {
  /** CPU time of one challenge, default 1,000. */
  readonly cpuMs?: number;
  /** Time on the wall of one challenge, default 10,000. */
  readonly wallMs?: number;
  /** Old-space heap, default 192: the packages alone take a third of it. */
  readonly heapMb?: number;
  /** Until the packages must have loaded, on a slow machine; default 60,000. */
  readonly startMs?: number;
  /** Until an idle thread ends, default 60,000. */
  readonly idleMs?: number;
  /** Further arguments of the thread: tests watch its sockets. */
  readonly execArgv?: readonly string[];
};

export type TrialAnswer =
  | { readonly kind: 'done'; readonly trial: Trial }
  /** Too much for the limits: whatever was given is at fault. */
  | { readonly kind: 'limit' }
  /** The thread broke, or got no processor time, or (`isTrial`) the trial threw: our fault. */
  | { readonly kind: 'fault'; readonly detail: string; readonly isTrial: boolean };

export type TrialThread = {
  /** Boots the thread, if it is not there, so that it loads while others work. */
  start(): void;
  /** `ms` is what the trial itself took, without loading. */
  attempt(job: TrialJob): Promise<{ readonly answer: TrialAnswer; readonly ms: number }>;
  close(): Promise<void>;
};

const WORKER = new URL('./worker.ts', import.meta.url);
const YOUNG_HEAP_MB = 16;

export function openTrialThread(limits: TrialLimits = {}): TrialThread {
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  const ending = new Set<Promise<unknown>>();

  function boot(): Worker {
    clearTimeout(idle);
    if (worker !== null) return worker;
    const booted = new Worker(WORKER, {
      name: 'clients',
      env: threadEnvironment(),
      ...(limits.execArgv ? { execArgv: [...limits.execArgv] } : {}),
      resourceLimits: {
        maxOldGenerationSizeMb: limits.heapMb ?? 192,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
      },
    });
    // A thread that dies between jobs is missed by the next one, which boots another.
    booted.on('error', () => forget(booted));
    booted.on('exit', () => forget(booted));
    booted.unref();
    worker = booted;
    return booted;
  }

  function forget(gone: Worker): void {
    if (worker === gone) worker = null;
  }

  function end(): void {
    const gone = worker;
    worker = null;
    if (gone === null) return;
    const ended = gone.terminate().finally(() => ending.delete(ended));
    ending.add(ended);
  }

  return {
    start() {
      boot();
      rest();
    },
    async attempt(job) {
      const tried = await attempt(boot(), job, limits);
      if (tried.answer.kind !== 'done') end();
      rest();
      return tried;
    },
    async close() {
      clearTimeout(idle);
      end();
      await Promise.all(ending);
    },
  };

  function rest(): void {
    clearTimeout(idle);
    idle = setTimeout(end, limits.idleMs ?? 60_000).unref();
  }
}

async function attempt(
  worker: Worker,
  job: TrialJob,
  limits: TrialLimits,
): Promise<{ readonly answer: TrialAnswer; readonly ms: number }> {
  const { cpuMs = 1_000, wallMs = 10_000, startMs = 60_000 } = limits;
  const { promise, resolve } = Promise.withResolvers<TrialAnswer>();
  const booting = setTimeout(() => resolve(fault('did not start')), startMs);
  let disarm = () => {};
  let began = Number.NaN;
  const onMessage = (message: TrialMessage) => {
    if (message.kind === 'broken') return resolve(fault(message.detail));
    if (message.ticket !== job.ticket) return;
    if (message.kind === 'done') return resolve({ kind: 'done', trial: message.trial });
    if (message.kind === 'fault') return resolve(fault(message.detail, true));
    clearTimeout(booting);
    began = performance.now();
    disarm = armDeadline(worker, message.cpu, { cpuMs, wallMs }, (why) =>
      resolve(why === 'starved' ? fault('got no processor time') : { kind: 'limit' }),
    );
  };
  const onError = (error: Error & { readonly code?: string }) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    resolve(isMemory ? { kind: 'limit' } : fault(error.message));
  };
  const onExit = () => resolve(fault('ended'));
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  worker.ref();
  worker.postMessage(job);
  try {
    const answer = await promise;
    return { answer, ms: Number.isNaN(began) ? 0 : performance.now() - began };
  } finally {
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    worker.unref();
    clearTimeout(booting);
    disarm();
  }
}

function fault(detail: string, isTrial = false): TrialAnswer {
  return { kind: 'fault', detail, isTrial };
}
