/** What a task that was out of time waits for, and what a thread loads before it is asked. */
import { expect, test } from 'vitest';
import { TaskLimitExceeded } from '../../../src/engine/errors.ts';
import type { Answer } from '../../../src/engine/pool/job.ts';
import { createTaskRunner, type Task } from '../../../src/engine/pool/task-runner.ts';
import type { Thread } from '../../../src/engine/pool/thread.ts';
import { createThreadQueue } from '../../../src/engine/pool/thread-queue.ts';
import { openEndlessAccount } from '../../../src/engine/pool/work-account.ts';

const CUT: Answer = { kind: 'limit', limit: 'time', cpuMs: 1 };
const DONE: Answer = { kind: 'done', output: 'done', cpuMs: 1 };

/** A runner on one thread that gives these answers, and what happened, in order. */
function runnerOn(answers: readonly Answer[]) {
  const events: string[] = [];
  let at = 0;
  let isAlive = false;
  const thread: Thread = {
    async attempt(_job, cpuMs) {
      events.push(`try of ${cpuMs} ms`);
      at += 1;
      return answers[at - 1] ?? DONE;
    },
    async boot() {
      isAlive = true;
      events.push('boot');
    },
    async load(modules) {
      events.push(`load ${modules.join(' ')}`);
    },
    isAlive: () => isAlive,
    close: async () => undefined,
  };
  let scale = 1;
  const runner = createTaskRunner(createThreadQueue([thread], { maxWaiting: 10 }), {
    firstTryMs: () => 100 * scale,
    cpuMs: () => 1_000 * scale,
    async afterCut() {
      events.push('measured');
      scale = 3;
    },
  });
  return { runner, thread, events };
}

function task(module = 'm'): Task {
  return {
    name: 'task',
    account: openEndlessAccount('').origin,
    address: (ticket) => ({ kind: 'run', ticket, module, exportName: 'x', input: [] }),
  };
}

test('the machine is measured before a task that was cut is tried again, by the limits of this machine', async () => {
  const { runner, events } = runnerOn([CUT, DONE]);
  await expect(runner.run(task(), undefined)).resolves.toBe('done');
  expect(events).toEqual(['boot', 'try of 100 ms', 'load m', 'measured', 'try of 3000 ms']);
});

test('the machine is not measured for a task that ran out of memory, nor for one with limits of its own', async () => {
  const memory: Answer = { kind: 'limit', limit: 'memory', cpuMs: 1 };
  const first = runnerOn([memory, memory]);
  await expect(first.runner.run(task(), undefined)).rejects.toBeInstanceOf(TaskLimitExceeded);
  const second = runnerOn([CUT, DONE]);
  await expect(second.runner.run({ ...task(), cpuMs: 7 }, undefined)).resolves.toBe('done');
  expect([...first.events, ...second.events]).not.toContain('measured');
});

test('a thread loads what its tasks will need, and one that is there only what is new', async () => {
  const { runner, thread, events } = runnerOn([]);
  await runner.start(thread, ['a', 'b']);
  await runner.start(thread, ['c']);
  await runner.start(thread);
  expect(events).toEqual(['boot', 'load a b', 'load c']);
});
