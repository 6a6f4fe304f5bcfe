/** A deadline aborts on time. A cleared deadline leaves no timer. */
import { expect, test } from 'vitest';
import { createDeadline } from '../../src/scan/run-scan.ts';

test('a deadline aborts with a TimeoutError', async () => {
  const { signal } = createDeadline(1);
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('a cleared deadline leaves no timer, and never aborts', () => {
  const countTimers = () =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const timersBefore = countTimers();
  const { signal, clear } = createDeadline(60_000);
  clear();
  expect(countTimers()).toBe(timersBefore);
  expect(signal.aborted).toBe(false);
});
