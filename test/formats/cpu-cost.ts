import { expect } from 'vitest';

/** Below this nothing needs to be compared: the input was as large as any that is read. */
const CHEAP_MS = 300;
/** Four times the input: four times the cost where it is linear, sixteen where it goes by the square. */
const GROWTH = 4;
const MAX_RATIO = 9;

/**
 * That reading costs time by the length of the input, at the largest size that is read. Measured
 * in CPU time of this thread, so that a busy machine changes nothing.
 */
export function expectLinear(
  make: (length: number) => string,
  length: number,
  read: (text: string) => unknown,
): void {
  const whole = make(length);
  expect(whole.length).toBeGreaterThanOrEqual(length * 0.9);
  const cost = cpuMs(() => read(whole));
  if (cost < CHEAP_MS) return;
  const part = make(Math.floor(length / GROWTH));
  const least = Math.min(...[1, 2, 3].map(() => cpuMs(() => read(part))));
  const again = Math.min(
    cost,
    cpuMs(() => read(whole)),
  );
  expect(again / least, `${again} ms for ${length}, ${least} ms for a quarter`).toBeLessThan(
    MAX_RATIO,
  );
}

function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** A text of about `length` characters, of one piece again and again. */
export function repeat(piece: string): (length: number) => string {
  return (length) => piece.repeat(Math.ceil(length / piece.length));
}
