/** The end of a thread fails the right task. The test emits errors itself, because it cannot time real ones. */
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Work } from '../../src/workers/job.ts';
import { openThreads, type Threads } from '../../src/workers/threads.ts';
import { openEndlessAccount } from '../../src/workers/work-account.ts';

const TASKS = new URL('../engine/fixtures/tasks.ts', import.meta.url).href;
const ENTRY = new URL('../../src/workers/worker.ts', import.meta.url);

let threads: Threads;
let booted: Worker[];
let untold: string[];
const remember = (worker: Worker) => booted.push(worker);

beforeEach(() => {
  booted = [];
  untold = [];
  process.on('worker', remember);
  threads = openThreads({
    threads: 2,
    entry: ENTRY,
    heapMb: 64,
    wallMs: 50_000,
    startMs: 50_000,
    idleMs: 50_000,
    maxWaiting: 10,
    onError: ({ message }) => untold.push(message),
  });
});
afterEach(async () => {
  process.off('worker', remember);
  await threads.close();
});

function attempt(exportName: string, signal = new AbortController().signal) {
  const work = (): Work => ({ modules: [TASKS], exportName, input: { words: ['b', 'a'] } });
  return threads.attempt({
    account: openEndlessAccount('').origin,
    work,
    cpuMs: () => 50_000,
    signal,
  });
}

/** Waits for the thread that boots next. */
async function nextThread(): Promise<Worker> {
  while (booted.length === 0) await new Promise((resolve) => setImmediate(resolve));
  return booted.shift() as Worker; // one was waited for
}

function outOfMemory(): Error {
  const message = 'Worker terminated due to reaching memory limit: JS heap out of memory';
  return Object.assign(new Error(message), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
}

test('a thread that ends after its caller gave up fails no other task', async () => {
  const giveUp = new AbortController();
  const given = attempt('endless', giveUp.signal);
  const first = await nextThread();
  await new Promise<void>((resolve) => {
    first.on('message', ({ kind }) => kind === 'started' && resolve());
  });
  const other = attempt('sorted');
  const second = await nextThread();

  giveUp.abort(new Error('given up'));
  first.emit('error', outOfMemory());
  await expect(given).rejects.toThrow('given up');
  await expect(other).resolves.toMatchObject({ kind: 'done' });
  expect(second).not.toBe(first);
  expect(untold).toEqual([outOfMemory().message]);
});

test.each([
  ['for want of memory', outOfMemory(), { kind: 'limit', limit: 'memory' }],
  ['otherwise', new Error('no such entry'), { kind: 'thread-failed', detail: 'no such entry' }],
])(
  'a thread that ends as it boots, %s, fails the task that waits for it',
  async (_, error, failure) => {
    const waiting = attempt('sorted');
    const thread = await nextThread();
    thread.emit('error', error);
    await expect(waiting).resolves.toMatchObject(failure);
  },
);
