import { expect, test } from 'vitest';
import {
  EngineFault,
  type JobAnswer,
  type Task,
  TaskFault,
  TaskLimitExceeded,
} from '../../src/workers/job.ts';
import type { Threads } from '../../src/workers/threads.ts';
import { openScanAccount } from '../../src/workers/work-account.ts';
import { createTaskRunner } from '../../src/workers/worker-pool.ts';

const CUT: JobAnswer = { kind: 'limit', limit: 'time', cpuMs: 1 };
const MEMORY: JobAnswer = { kind: 'limit', limit: 'memory', cpuMs: 1 };
const THREW: JobAnswer = { kind: 'threw', detail: 'broken', cpuMs: 1 };
const THREAD_FAILURE: JobAnswer = { kind: 'thread-failed', detail: 'no thread', cpuMs: 1 };
const DONE: JobAnswer = { kind: 'done', output: 'done', cpuMs: 1 };

/** A runner on threads that give these answers, and its events in order. */
function runnerOn(answers: readonly JobAnswer[], { firstTryMs = 100 } = {}) {
  const events: string[] = [];
  const left = [...answers];
  const threads = (name: string): Threads => ({
    async attempt({ cpuMs }) {
      events.push(`${name}: ${cpuMs()} ms`);
      return left.shift() ?? DONE;
    },
    start: async () => undefined,
    counts: () => ({ alive: 0, running: 0, waiting: 0 }),
    close: async () => undefined,
  });
  let scale = 1;
  const runner = createTaskRunner(
    { quick: threads('quick'), slow: threads('slow') },
    {
      firstTryMs: () => firstTryMs * scale,
      cpuMs: () => 1_000 * scale,
      async beforeLongTry() {
        events.push('measured');
        scale = 3;
      },
    },
  );
  return { runner, events };
}

function task(originMs = Infinity): Task {
  const budgets = { origin: originMs, standing: 0, lightMs: 0 };
  const work = () => ({ modules: ['m'], exportName: 'x', input: null }) as const;
  return { name: 'task', account: openScanAccount('', budgets).origin, work };
}

test('a task that was ended early is tried again on the slow threads, once the machine is measured', async () => {
  const { runner, events } = runnerOn([CUT, DONE]);
  await expect(runner.run(task())).resolves.toBe('done');
  expect(events).toEqual(['quick: 100 ms', 'measured', 'slow: 3000 ms']);
});

test("a scan's next tasks are not tried first on the fast threads", async () => {
  const { runner, events } = runnerOn([CUT, DONE, DONE]);
  const first = task();
  await runner.run(first);
  await runner.run({ ...task(), account: first.account });
  expect(events.at(-1)).toBe('slow: 3000 ms');
});

test.each([
  ['too long', [CUT, CUT, CUT], TaskLimitExceeded],
  ['too much memory', [MEMORY, MEMORY], TaskLimitExceeded],
  ['a throw', [THREW, THREW], TaskFault],
  ['a thread of ours', [THREAD_FAILURE, THREAD_FAILURE], EngineFault],
  ['failures of three kinds', [MEMORY, THREAD_FAILURE, THREW, THREW], TaskFault],
])('%s twice is final', async (_, answers, error) => {
  const { runner, events } = runnerOn(answers);
  await expect(runner.run(task())).rejects.toBeInstanceOf(error);
  const tries = events.filter((event) => event !== 'measured');
  expect(tries).toHaveLength(answers.length);
  expect(tries.slice(1).every((event) => event.startsWith('slow'))).toBe(true);
});

test('a first try with the same limit as later tries counts as one of the two', async () => {
  const { runner, events } = runnerOn([CUT, CUT], { firstTryMs: 1_000 });
  await expect(runner.run(task())).rejects.toBeInstanceOf(TaskLimitExceeded);
  expect(events).toEqual(['quick: 1000 ms', 'slow: 1000 ms']);
});

test('the machine is not measured for a task with its own limit', async () => {
  const { runner, events } = runnerOn([CUT, DONE]);
  await expect(runner.run({ ...task(), cpuMs: 7 })).resolves.toBe('done');
  expect(events).toEqual(['quick: 7 ms', 'slow: 7 ms']);
});

test('a task gets at most the time that its scan has left, and none once that is spent', async () => {
  const { runner, events } = runnerOn([CUT, DONE]);
  const poor = task(3);
  await expect(runner.run(poor)).resolves.toBe('done');
  expect(events).toEqual(['quick: 3 ms', 'measured', 'slow: 2 ms']);
  poor.account.exhaust();
  await expect(runner.run(poor)).rejects.toMatchObject({ limit: 'budget' });
});
