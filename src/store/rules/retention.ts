/** How long each kind of row is kept. */
const HOUR_MS = 3_600_000;

/** How long each kind of row is kept; `purge` of both stores reads these alone. */
export const RETENTION_MS = {
  /** After a key's last step and the end of its authorization. */
  ledgerKey: 48 * HOUR_MS,
  /** A key that was never sent for settlement: it cost nobody anything, and nothing is owed for it. */
  unsentKey: HOUR_MS,
  /** After the last settlement that names it. */
  settledAnswer: 24 * HOUR_MS,
  /** An answer that no unfinished or settled key names. */
  unpaidAnswer: HOUR_MS,
  /** A marker of a claim that nobody made. */
  abandonedMarker: HOUR_MS,
  identifierChain: 48 * HOUR_MS,
  result: 24 * HOUR_MS,
  unpaidMark: 24 * HOUR_MS,
  /** Beyond this a slot (token, failed confirm, fetch) no longer counts. */
  slot: HOUR_MS,
  endedLease: HOUR_MS,
  endedShare: HOUR_MS,
  snapshot: 90 * 24 * HOUR_MS,
  silentHost: HOUR_MS,
} as const;
