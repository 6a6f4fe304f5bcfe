import { expect, test } from 'vitest';
import {
  EngineFault,
  type JobAnswer,
  type Task,
  TaskFault,
  TaskLimitExceeded,
} from '../../../src/scanner/workers/job.ts';
import type { Threads } from '../../../src/scanner/workers/threads.ts';
import { openScanAccount } from '../../../src/scanner/workers/work-account.ts';
import { createTaskRunner } from '../../../src/scanner/workers/worker-pool.ts';

const TIME_LIMIT: JobAnswer = { kind: 'limit', limit: 'time', cpuMs: 1 };
const MEMORY_LIMIT: JobAnswer = { kind: 'limit', limit: 'memory', cpuMs: 1 };
const THREW: JobAnswer = { kind: 'threw', detail: 'broken', cpuMs: 1 };
const THREAD_FAILURE: JobAnswer = { kind: 'thread-failed', detail: 'no thread', cpuMs: 1 };
const DONE: JobAnswer = { kind: 'done', output: 'done', cpuMs: 1 };

/** Creates a runner on threads that give these answers, and lists its events in order. */
function createRunner(answers: readonly JobAnswer[], { firstTryMs = 100 } = {}) {
  const events: string[] = [];
  const remainingAnswers = [...answers];
  const threads = (name: string): Threads => ({
    async attempt({ cpuMs }) {
      events.push(`${name}: ${cpuMs()} ms`);
      return remainingAnswers.shift() ?? DONE;
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

function toTask(originMs = Infinity): Task {
  const budgets = { origin: originMs, standing: 0, lightMs: 0 };
  const work = () => ({ modules: ['m'], exportName: 'x', input: null }) as const;
  return { name: 'task', account: openScanAccount('', budgets).origin, work };
}

test('a task that was ended early is tried again on the slow threads, after the machine was measured', async () => {
  const { runner, events } = createRunner([TIME_LIMIT, DONE]);
  await expect(runner.run(toTask())).resolves.toBe('done');
  expect(events).toEqual(['quick: 100 ms', 'measured', 'slow: 3000 ms']);
});

test('after a task of a scan was ended early, further tasks of that scan start on the slow threads', async () => {
  const { runner, events } = createRunner([TIME_LIMIT, DONE, DONE]);
  const firstTask = toTask();
  await runner.run(firstTask);
  await runner.run({ ...toTask(), account: firstTask.account });
  expect(events.at(-1)).toBe('slow: 3000 ms');
});

test.each([
  ['the time limit', [TIME_LIMIT, TIME_LIMIT, TIME_LIMIT], TaskLimitExceeded],
  ['the memory limit', [MEMORY_LIMIT, MEMORY_LIMIT], TaskLimitExceeded],
  ['a throw of its code', [THREW, THREW], TaskFault],
  ['the end of its thread', [THREAD_FAILURE, THREAD_FAILURE], EngineFault],
  [
    'a throw, among failures of other kinds',
    [MEMORY_LIMIT, THREAD_FAILURE, THREW, THREW],
    TaskFault,
  ],
])('a task that fails twice by %s is not tried again', async (_case, answers, error) => {
  const { runner, events } = createRunner(answers);
  await expect(runner.run(toTask())).rejects.toBeInstanceOf(error);
  const tries = events.filter((event) => event !== 'measured');
  expect(tries).toHaveLength(answers.length);
  expect(tries.slice(1).every((event) => event.startsWith('slow'))).toBe(true);
});

test('a first try with the same limit as later tries counts as one of the two allowed failures', async () => {
  const { runner, events } = createRunner([TIME_LIMIT, TIME_LIMIT], { firstTryMs: 1_000 });
  await expect(runner.run(toTask())).rejects.toBeInstanceOf(TaskLimitExceeded);
  expect(events).toEqual(['quick: 1000 ms', 'slow: 1000 ms']);
});

test('the machine is not measured for a task with its own limit', async () => {
  const { runner, events } = createRunner([TIME_LIMIT, DONE]);
  await expect(runner.run({ ...toTask(), cpuMs: 7 })).resolves.toBe('done');
  expect(events).toEqual(['quick: 7 ms', 'slow: 7 ms']);
});

test('a task gets at most the remaining time of its scan, and is refused when that time is used up', async () => {
  const { runner, events } = createRunner([TIME_LIMIT, DONE]);
  const shortOfTime = toTask(3);
  await expect(runner.run(shortOfTime)).resolves.toBe('done');
  expect(events).toEqual(['quick: 3 ms', 'measured', 'slow: 2 ms']);
  shortOfTime.account.exhaust();
  await expect(runner.run(shortOfTime)).rejects.toMatchObject({ limit: 'budget' });
});
