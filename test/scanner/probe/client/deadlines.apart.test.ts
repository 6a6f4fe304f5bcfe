/** A deadline that fires late because this thread was busy is not the origin's fault. */
import { describe, expect, test } from 'vitest';
import { startPatientTimer } from '../../../../src/scanner/guard/timers.ts';
import { ask, clientFor, dataOf, onRequestLine, startOrigin, startRawOrigin } from './harness.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Blocks this thread, as the computation of a modular power does. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a thread that is blocked', () => {
  test("longer than an origin's time limit still reads an answer that came in time", async () => {
    const target = await startRawOrigin((socket) => {
      // The origin answers in time, while this thread is blocked.
      onRequestLine(socket, () => setTimeout(() => socket.write(ANSWER), 500));
    });
    const client = clientFor(target);
    await ask(client, target);
    const pending = ask(client, target, '/', { timeoutMs: 1_000 });
    setTimeout(() => stall(3_000), 100);
    expect(dataOf(await pending).body).toBe('ok');
  });

  test('does not make an origin slow: the first byte counts without the blocked time', async () => {
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, () => {
        setTimeout(() => stall(3_000), 10);
        setTimeout(() => socket.write(ANSWER), 20);
      });
    });
    expect(dataOf(await ask(clientFor(target), target)).firstByteMs).toBeLessThan(1_500);
  });

  test('again and again still waits for the answer of an origin', async () => {
    const target = await startRawOrigin((socket) => {
      let stalls = 0;
      onRequestLine(socket, () => {
        const busy = setInterval(() => {
          stall(400);
          stalls += 1;
          if (stalls < 5) return;
          clearInterval(busy);
          socket.write(ANSWER);
        }, 1);
      });
    });
    expect(dataOf(await ask(clientFor(target), target, '/', { timeoutMs: 1_900 })).body).toBe('ok');
  });
});

describe('a thread that is not blocked', () => {
  test('counts the whole time to the first byte', async () => {
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, () => setTimeout(() => socket.write(ANSWER), 700));
    });
    expect(dataOf(await ask(clientFor(target), target)).firstByteMs).toBeGreaterThanOrEqual(690);
  });

  test('ends a request that gets no answer', async () => {
    const target = await startOrigin(() => {});
    const answer = await ask(clientFor(target), target, '/', { timeoutMs: 600 });
    expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
    expect(answer.ms).toBeGreaterThanOrEqual(590);
  });

  test('does not fire a timer that was cancelled or restarted', async () => {
    const fired: string[] = [];
    const cancelled = startPatientTimer(20, () => fired.push('cancelled'));
    const restarted = startPatientTimer(300, () => fired.push('restarted'));
    setTimeout(() => restarted.restart(), 200);
    cancelled.cancel();
    await new Promise<void>((resolve) => startPatientTimer(400, resolve));
    expect(fired).toEqual([]);
    await expect.poll(() => fired).toEqual(['restarted']);
  });
});
