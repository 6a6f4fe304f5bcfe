/** A deadline aborts in time, and leaves nothing behind where it was not needed. */
import { expect, test } from 'vitest';
import { deadlineAfter } from '../../src/scan/deadline.ts';

test('it aborts as a timeout does', async () => {
  using deadline = deadlineAfter(1);
  const { signal } = deadline;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('once it is disposed of, no timer is left, and it never aborts', () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  let signal: AbortSignal;
  {
    using deadline = deadlineAfter(60_000);
    ({ signal } = deadline);
    expect(signal.aborted).toBe(false);
  }
  expect(timers()).toBe(before);
  expect(signal.aborted).toBe(false);
});
