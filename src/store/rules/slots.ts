/** When a numbered slot is free. */
import {
  CHALLENGE_FETCHES_PER_HOUR,
  FAILED_CONFIRMS_PER_HOUR,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
} from '../contract/ownership.ts';
import { RETENTION_MS } from './retention.ts';

/** What is counted by numbered slots, and how many of each an hour has. */
export const SLOT_LIMITS = {
  token: LIVE_TOKENS_PER_HOST_AND_CLIENT,
  failed_confirm: FAILED_CONFIRMS_PER_HOUR,
  challenge_fetch: CHALLENGE_FETCHES_PER_HOUR,
} as const;

export type SlotKind = keyof typeof SLOT_LIMITS;

/** One sequence of slots. A kind that counts for all clients leaves `client` empty. */
export type SlotScope = {
  readonly kind: SlotKind;
  readonly host: string;
  readonly client: string;
};

export type SlotState = {
  /** The number that the next slot would have. */
  readonly next: number;
  readonly used: number;
  /** When a slot is free again; null while there is room. */
  readonly retryAtMs: number | null;
};

/** @param newest the newest `SLOT_LIMITS[kind]` slots of one scope (or all it has). */
export function slotState(
  kind: SlotKind,
  newest: readonly { readonly n: number; readonly atMs: number }[],
  nowMs: number,
): SlotState {
  const next = newest.reduce((max, slot) => Math.max(max, slot.n), 0) + 1;
  const endsMs = newest.map((slot) => slot.atMs + RETENTION_MS.slot).filter((end) => end > nowMs);
  const full = endsMs.length >= SLOT_LIMITS[kind];
  return { next, used: endsMs.length, retryAtMs: full ? Math.min(...endsMs) : null };
}
