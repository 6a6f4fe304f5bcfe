/** Measures the heap of a process that scans on and on. It stays flat after the first few hundred scans. */

import { setTimeout as pause } from 'node:timers/promises';
import { openEngine } from '../engine.ts';
import { startFarm } from '../farm/seller-farm.ts';
import type { BenchCase, Measurement } from '../measurement.ts';

const MIB = 1024 * 1024;
const AT_ONCE = 4;

const memory: BenchCase = async ({ isQuick }) => {
  const [first, last] = isQuick ? [4, 8] : [300, 1_200];
  await using farm = await startFarm({ kind: 'good', count: AT_ONCE, delayMs: 0 });
  await using engine = await openEngine(farm.urls);
  const scan = async (scans: number) => {
    for (let done = 0; done < scans; done += AT_ONCE) {
      await Promise.all(farm.urls.map((url) => engine.scan(url)));
    }
    return await heapAfterCollection();
  };
  const early = await scan(first);
  const late = await scan(last - first);
  const rows: Measurement[] = [
    { what: `heap after ${first} scans`, value: early / MIB, unit: 'MiB' },
    { what: `heap after ${last} scans`, value: late / MIB, unit: 'MiB' },
    { what: 'the later of the earlier', value: late / early, unit: 'x', note: '1 is flat' },
  ];
  return rows;
};

export default memory;

async function heapAfterCollection(): Promise<number> {
  // Finalizers run between collections and release more memory.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await pause(50);
  }
  return process.memoryUsage().heapUsed;
}
