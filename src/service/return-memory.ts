/**
 * Gives memory back at rest. What loading or a burst of scans leaves in the young generation and
 * between the pages of the old one V8 keeps for the next burst, and collects nothing while nothing
 * is allocated: 25 to 45 MiB of a service that waits.
 */
import v8 from 'node:v8';
import { collectGarbage } from '../engine/pool/collect.ts';

export type ReturnMemoryOptions = {
  /** Processor time that the serving thread has used, ms; default its own. */
  readonly usedMs?: () => number;
  /** Bytes in use; default those of the heap. */
  readonly heapBytes?: () => number;
  readonly collect?: () => void;
};

/** How often rest is looked for. */
export const LOOK_INTERVAL_MS = 2_000;
/** A thread that used less between two looks rests. */
const REST_MS = 20;
/** Less work than this leaves little behind. */
const WORK_MS = 100;
/** A collection takes about a millisecond for each MiB, in which no caller is answered. */
const MAX_HEAP_BYTES = 96 * 1024 * 1024;

/** Looks once: collects where the thread rests after work. True where it did. */
export type LookForRest = () => boolean;

export function returnMemoryAtRest(options: ReturnMemoryOptions = {}): LookForRest {
  const { usedMs = threadMs, heapBytes = heapInUse, collect = collectGarbage } = options;
  let atLastLook = usedMs();
  let atLastCollection = 0;
  return () => {
    const now = usedMs();
    const isAtRest = now - atLastLook < REST_MS;
    atLastLook = now;
    if (!isAtRest || now - atLastCollection < WORK_MS || heapBytes() > MAX_HEAP_BYTES) return false;
    collect();
    // Its own work is no reason for the next one.
    atLastLook = usedMs();
    atLastCollection = atLastLook;
    return true;
  };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function heapInUse(): number {
  return v8.getHeapStatistics().used_heap_size;
}
