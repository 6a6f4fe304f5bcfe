/** Every collection and its indexes. */
import type { IndexDescription } from 'mongodb';

const by = (key: Record<string, 1 | -1>): IndexDescription => ({ key });
const uniqueBy = (key: Record<string, 1 | -1>): IndexDescription => ({ key, unique: true });

/**
 * Every collection with its indexes beside `_id`. None of them expires rows or covers a part of
 * them only: servers that merely speak MongoDB's protocol refuse those.
 */
export const INDEXES = {
  ledger: [
    by({ key: 1, step: 1 }),
    by({ payer: 1, state: 1, atMs: 1 }),
    by({ state: 1, atMs: 1 }),
    by({ atMs: 1 }),
    by({ answerId: 1 }),
    by({ scanId: 1 }),
  ],
  ledger_open: [by({ sinceMs: 1, _id: 1 }), by({ payer: 1, request: 1 }), by({ key: 1 })],
  ledger_written: [],
  answers: [by({ startedAtMs: 1 }), by({ reportOf: 1 })],
  answer_chunks: [by({ answerId: 1, n: 1 })],
  identifiers: [by({ scope: 1, n: 1 }), by({ atMs: 1 })],
  results: [by({ host: 1, scannedAtMs: -1 }), by({ scannedAtMs: 1 })],
  reports: [by({ scannedAtMs: 1 })],
  unpaid: [by({ payer: 1, atMs: -1 }), by({ atMs: 1 })],
  history: [
    uniqueBy({ scanId: 1 }),
    by({ host: 1, seq: -1 }),
    by({ host: 1, scannedAtMs: -1, scanId: -1 }),
  ],
  records: [
    by({ scannedAtMs: -1, _id: 1 }),
    by({ grade: 1, score: -1, scannedAtMs: -1, _id: 1 }),
    by({ grade: 1, scannedAtMs: -1, _id: 1 }),
    by({ category: 1, scannedAtMs: -1, _id: 1 }),
    by({ category: 1, grade: 1, score: -1, scannedAtMs: -1, _id: 1 }),
  ],
  changes: [uniqueBy({ scanId: 1 }), by({ n: -1 }), by({ changedAtMs: 1 }), by({ host: 1, n: -1 })],
  slots: [uniqueBy({ scope: 1, n: 1 }), by({ group: 1 }), by({ expiresAtMs: 1 })],
  confirms: [by({ atMs: 1 })],
  listing: [by({ setting: 1, value: 1 }), by({ host: 1 })],
  versions: [],
  leases: [by({ name: 1, turn: -1 }), by({ takenAtMs: 1 })],
  limits: [by({ resetAtMs: 1 })],
  snapshots: [by({ takenAtMs: 1 })],
  verdicts: [by({ host: 1 }), by({ atMs: 1 })],
  instances: [by({ beatAtMs: 1 })],
  meta: [],
} as const satisfies Record<string, readonly IndexDescription[]>;

export type CollectionName = keyof typeof INDEXES;
