import type { LedgerState } from '../store/contract/ledger.ts';

/**
 * Which step may follow which. Once a payload is `settling` money may have moved, so nothing leads
 * back from there to a free key but a definite refusal of the first send (`released`).
 */
const FOLLOWERS: Readonly<Record<LedgerState | 'none', readonly LedgerState[]>> = {
  none: ['claimed'],
  claimed: ['computed', 'released'],
  computed: ['settling', 'released'],
  settling: ['settled', 'released', 'unknown', 'failed'],
  unknown: ['settled', 'failed'],
  settled: ['published'],
  published: [],
  released: ['claimed'],
  failed: [],
};

export function mayFollow(from: LedgerState | 'none', to: LedgerState): boolean {
  return FOLLOWERS[from].includes(to);
}

/** The payer's money has moved, and the answer is the payer's. */
export function isPaid(state: LedgerState): boolean {
  return state === 'settled' || state === 'published';
}

/** The authorization is as if it had never been seen. */
export function isFree(state: LedgerState): boolean {
  return state === 'released';
}

/** Money may have moved; only the facilitator or the chain can tell. */
export function isInDoubt(state: LedgerState): boolean {
  return state === 'settling' || state === 'unknown';
}
