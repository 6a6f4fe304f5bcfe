/**
 * Trials where a process makes one scan: on the thread that judges, which saves booting another. What
 * it has room and time for is what the clients' own thread would say; all else is tried there.
 */
import type { Pool } from '../engine/pool/pool.ts';
import { openTrialThread, type TrialLimits, type TrialThread } from './trial-thread.ts';
import type { Trial } from './try-challenge.ts';

const GUEST = new URL('./guest-trial.ts', import.meta.url);

/** The caller closes the pool. */
export function openGuestTrials(
  pool: Pick<Pool, 'tryGuest' | 'loadGuest'>,
  limits: TrialLimits = {},
): TrialThread {
  const own = openTrialThread(limits);
  return {
    start: () => pool.loadGuest([GUEST.href]),
    async attempt(job) {
      // The packages of Solana take more memory than judging leaves.
      if (job.solana) return await own.attempt(job);
      const began = performance.now();
      const call = { module: GUEST.href, exportName: 'tryAsGuest', input: job.seen };
      const tried = await pool.tryGuest(call);
      if (tried === null) return await own.attempt(job);
      const trial = tried.output as Trial; // what tryAsGuest returned, cloned: plain data
      return { answer: { kind: 'done', trial }, ms: performance.now() - began };
    },
    close: () => own.close(),
  };
}
