/** When a thread ends, only its own task fails. The tests emit errors, because they cannot time real errors. */
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Work } from '../../../src/scanner/workers/job.ts';
import { openThreads, type Threads } from '../../../src/scanner/workers/threads.ts';
import { openEndlessAccount } from '../../../src/scanner/workers/work-account.ts';

const TASKS_MODULE = new URL('../engine/fixtures/tasks.ts', import.meta.url).href;
const WORKER_ENTRY = new URL('../../../src/scanner/workers/worker.ts', import.meta.url);

let threads: Threads;
let bootedThreads: Worker[];
let reportedErrors: string[];
const recordThread = (worker: Worker) => bootedThreads.push(worker);

beforeEach(() => {
  bootedThreads = [];
  reportedErrors = [];
  process.on('worker', recordThread);
  threads = openThreads({
    threads: 2,
    entry: WORKER_ENTRY,
    heapMb: 64,
    wallMs: 50_000,
    startMs: 50_000,
    idleMs: 50_000,
    maxWaiting: 10,
    onError: ({ message }) => reportedErrors.push(message),
  });
});
afterEach(async () => {
  process.off('worker', recordThread);
  await threads.close();
});

function attempt(exportName: string, signal = new AbortController().signal) {
  const work = (): Work => ({ modules: [TASKS_MODULE], exportName, input: { words: ['b', 'a'] } });
  return threads.attempt({
    account: openEndlessAccount('').origin,
    work,
    cpuMs: () => 50_000,
    signal,
  });
}

/** Waits for the thread that boots next. */
async function nextThread(): Promise<Worker> {
  while (bootedThreads.length === 0) await new Promise((resolve) => setImmediate(resolve));
  return bootedThreads.shift() as Worker; // The loop waited for a thread.
}

function newMemoryError(): Error {
  const message = 'Worker terminated due to reaching memory limit: JS heap out of memory';
  return Object.assign(new Error(message), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
}

test('a thread that ends after its caller gave up fails no other task', async () => {
  const giveUp = new AbortController();
  const abandoned = attempt('endless', giveUp.signal);
  const firstThread = await nextThread();
  await new Promise<void>((resolve) => {
    firstThread.on('message', ({ kind }) => kind === 'started' && resolve());
  });
  const otherTask = attempt('sorted');
  const secondThread = await nextThread();

  giveUp.abort(new Error('given up'));
  firstThread.emit('error', newMemoryError());
  await expect(abandoned).rejects.toThrow('given up');
  await expect(otherTask).resolves.toMatchObject({ kind: 'done' });
  expect(secondThread).not.toBe(firstThread);
  expect(reportedErrors).toEqual([newMemoryError().message]);
});

test.each([
  ['because of the memory limit', newMemoryError(), { kind: 'limit', limit: 'memory' }],
  [
    'because of another error',
    new Error('no such entry'),
    { kind: 'thread-failed', detail: 'no such entry' },
  ],
])(
  'a thread that ends as it boots, %s, fails the task that waits for it',
  async (_case, error, failure) => {
    const waiting = attempt('sorted');
    const thread = await nextThread();
    thread.emit('error', error);
    await expect(waiting).resolves.toMatchObject(failure);
  },
);
