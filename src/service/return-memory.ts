/**
 * Gives memory back at rest. What loading or a burst of scans leaves in the young generation and
 * between the pages of the old one V8 keeps for the next burst, and collects nothing while nothing
 * is allocated: 25 to 45 MiB of a service that waits. What is called often pays for it: a collection at rest takes
 * the shapes of objects along that compiled code is made for, so that the next second of requests
 * costs twice its processor time. A short pause between requests is therefore no rest.
 */
import v8 from 'node:v8';
import { collectGarbage } from '../engine/pool/collect.ts';

export type ReturnMemoryOptions = {
  /** Scans that have begun so far. */
  readonly scans: () => number;
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
/** So many looks at rest make a minute: callers between whose requests it passes notice nothing. */
const LONG_REST_LOOKS = 30;
/** A start takes less; what took more has answered requests. */
const START_MS = 2_000;
/** A collection takes about a millisecond for each MiB, in which no caller is answered. */
const MAX_HEAP_BYTES = 96 * 1024 * 1024;

/** Looks once: collects where the thread rests after work. True where it did. */
export type LookForRest = () => boolean;

export function returnMemoryAtRest(options: ReturnMemoryOptions): LookForRest {
  const { scans, usedMs = threadMs, heapBytes = heapInUse, collect = collectGarbage } = options;
  let atLastLook = usedMs();
  let atLastCollection = 0;
  let collectedScans: number | null = null;
  let looksAtRest = 0;

  function isRest(now: number): boolean {
    looksAtRest = now - atLastLook < REST_MS ? looksAtRest + 1 : 0;
    atLastLook = now;
    if (looksAtRest === 0 || now - atLastCollection < WORK_MS) return false;
    // A start and scans leave more than requests do, and the code of a scan is on other threads.
    const isShortEnough = collectedScans === null ? now < START_MS : scans() > collectedScans;
    return isShortEnough || looksAtRest >= LONG_REST_LOOKS;
  }

  return () => {
    if (!isRest(usedMs()) || heapBytes() > MAX_HEAP_BYTES) return false;
    collect();
    // Its own work is no reason for the next one.
    atLastLook = usedMs();
    atLastCollection = atLastLook;
    collectedScans = scans();
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
