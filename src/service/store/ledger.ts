import type { JsonObject } from '../../scanner/model/json.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { LEDGER_STATES, type LedgerState, STATE_RULES } from './payment-tables.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import { type InsertOutcome, insertNext } from './table.ts';
import type { Row } from './tables.ts';

/** One step of a payment, as its writer gives it. The store adds the time and the writer's process. */
export type NewLedgerRow = Omit<LedgerRow, 'atMs' | 'owner'>;

export type LedgerRow = Omit<Row<'ledger'>, 'scanId' | 'answerId' | 'data'> & {
  readonly scanId?: string | undefined;
  readonly answerId?: string | undefined;
  readonly data: JsonObject;
};

/**
 * The current claim of one key: `rows` begins with the key's last step `claimed`. Earlier claims were released. The
 * `data` of the current claim repeats everything that is still needed of earlier claims.
 */
export type LedgerEntry = LedgerHistory & {
  /** Time at which an answer for this key was written to a client in full, or null. */
  readonly writtenAtMs: number | null;
};

type PayerQuery = { readonly payer: string; readonly sinceMs: number };
type RecentQuery = PayerQuery & { readonly request: string; readonly withoutWritten?: boolean };

/** The steps of payments, unique by `(key, step)`. Steps are appended and never updated. */
export type LedgerStore = ReturnType<typeof createLedgerStore>;

export function createLedgerStore(context: StoreContext) {
  const { ledger, ledgerOpen, ledgerWritten } = context.tables;
  return {
    /**
     * Appends a step. It is durable when this returns, but in an embedded store steps before `settling`, and the step
     * `published`, become durable with a later row. A writer that gets `lost` must not write to this key again.
     */
    append: (row: NewLedgerRow): Promise<InsertOutcome> => append(context, row),

    /** Finds the current claim of a key. The cost does not grow with the number of earlier claims. */
    findEntry: (key: string): Promise<LedgerEntry | null> => readEntry(context, key),

    /** Finds all steps of a key, ascending, including those of released claims. Meant for audits. */
    async findAllSteps(key: string): Promise<readonly LedgerRow[]> {
      return (await readHistories(context, [key]))[0]?.rows ?? [];
    },

    /** Yields each key whose last step is not terminal once, the oldest claim first, in batches that fit in memory. */
    async *findUnfinished(): AsyncIterable<LedgerEntry> {
      // `ledgerOpen` has a marker for each claim that may be unfinished.
      const order = [['sinceMs', 'asc']] as const;
      const handledKeys = new Set<string>();
      for await (const markers of ledgerOpen.batches({}, { order })) {
        const keys = new Set(markers.map(({ key }) => key).filter((key) => !handledKeys.has(key)));
        for (const entry of await readEntries(context, keys)) {
          handledKeys.add(entry.key);
          if (isTerminal(entry.last.state)) await ledgerOpen.remove(whereMarkersBefore(entry.last));
          else yield entry;
        }
      }
    },

    /**
     * Finds the keys of this payer and request that are unfinished, or were settled at or after `sinceMs`. The key with
     * the newest last step comes first. Released keys are not read, because any caller can write them for free.
     * `withoutWritten` leaves out settled keys whose answer was written to a client in full.
     */
    async findRecent(query: RecentQuery): Promise<readonly LedgerEntry[]> {
      const { payer, request, sinceMs, withoutWritten = false } = query;
      const [steps, markers] = await Promise.all([
        ledger.all({ payer, request, state: 'settled', atMs: { from: sinceMs } }),
        ledgerOpen.all({ payer, request }),
      ]);
      const keys = new Set(steps.map((row) => row.key));
      // Keys with a written answer are removed before entries are read, because a busy payer has hundreds of such keys.
      const written = withoutWritten ? await ledgerWritten.all({ key: { in: [...keys] } }) : [];
      for (const { key } of written) keys.delete(key);
      for (const { key } of markers) keys.add(key);
      const entries = await readEntries(context, keys);
      // A marker may outlive its unfinished key, so the state is tested again.
      const isRecent = ({ last, rows }: LedgerEntry) =>
        !isTerminal(last.state) ||
        rows.some((row) => row.state === 'settled' && row.atMs >= sinceMs);
      return entries.filter(isRecent).toSorted((a, b) => b.last.atMs - a.last.atMs);
    },

    /** Finds steps in state `unknown` of all this payer's keys, written at or after `sinceMs`. */
    async findUnknownSteps({ payer, sinceMs }: PayerQuery): Promise<readonly LedgerRow[]> {
      const rows = await ledger.all({ payer, state: 'unknown', atMs: { from: sinceMs } });
      return rows.map(toLedgerRow);
    },

    /** Counts the keys of this payer that were settled at or after `sinceMs`. Stops counting at `limit`. */
    async countSettled({ payer, sinceMs, limit }: PayerQuery & { readonly limit: number }) {
      const whereSettled = { payer, state: 'settled', atMs: { from: sinceMs } } as const;
      return (await ledger.all(whereSettled, { limit })).length;
    },

    /** Records that an answer for this key was written to a client in full. The time of the first call stays. */
    async markWritten(key: string): Promise<void> {
      await ledgerWritten.insert({ key, atMs: context.now() });
    },
  };
}

async function append(context: StoreContext, row: NewLedgerRow): Promise<InsertOutcome> {
  const { ledger, ledgerOpen } = context.tables;
  const atMs = context.now();
  const { key, step, state, attempt, payer, request, scanId = null, answerId = null } = row;
  const data = toStoredJson(row.data, `step ${step} of a payment`);
  // The marker is inserted first: recovery tolerates a marker without a claim, but would miss a claim without a marker.
  if (!isTerminal(state) && (step === 1 || state === 'claimed')) {
    await ledgerOpen.insert({ key, claimStep: step, payer, request, sinceMs: atMs });
  }
  const newRow = { ...row, scanId, answerId, data, atMs, owner: context.owner };
  // A purge may have removed the key's ended claims, and a new claim has then lost. Steps within a claim need no check:
  // their claim is unfinished, so no purge has removed it.
  const previous = state === 'claimed' && step > 1 ? ([key, step - 1] as const) : null;
  const outcome = await insertNext(ledger, newRow, previous, { key, step, attempt });
  if (outcome === 'won' && isTerminal(state)) await ledgerOpen.remove(whereMarkersBefore(row));
  return outcome;
}

/** Selects the markers of the claims that began before this step. */
function whereMarkersBefore({ key, step }: { readonly key: string; readonly step: number }) {
  return { key, claimStep: { before: step } };
}

/** Does not read the steps before the last claim, because any caller can add many of them for free. */
async function readEntry({ tables }: StoreContext, key: string): Promise<LedgerEntry | null> {
  const { ledger, ledgerWritten } = tables;
  const claim = await ledger.first({ key, state: 'claimed' }, { order: [['step', 'desc']] });
  const [rows, written] = await Promise.all([
    ledger.all({ key, step: { from: claim?.step ?? 0 } }),
    ledgerWritten.get(key),
  ]);
  const history = toLedgerHistory(rows.map(toLedgerRow));
  if (history === null) return null;
  // A later claim may have been made meanwhile.
  const lastClaimAt = history.rows.findLastIndex((row) => row.state === 'claimed');
  return {
    ...history,
    rows: history.rows.slice(Math.max(0, lastClaimAt)),
    writtenAtMs: written?.atMs ?? null,
  };
}

async function readEntries(
  context: StoreContext,
  keys: ReadonlySet<string>,
): Promise<readonly LedgerEntry[]> {
  const entries = await Promise.all(Array.from(keys, (key) => readEntry(context, key)));
  return entries.filter((entry) => entry !== null);
}

/** Reads the history of each key once, in the order of the keys. Leaves out unknown keys. */
export async function readHistories(
  { tables }: StoreContext,
  keys: readonly string[],
): Promise<readonly LedgerHistory[]> {
  const uniqueKeys = [...new Set(keys)];
  if (uniqueKeys.length === 0) return [];
  const steps = await tables.ledger.all({ key: { in: uniqueKeys } });
  const rows = Map.groupBy(steps.map(toLedgerRow), (row) => row.key);
  return uniqueKeys
    .map((key) => toLedgerHistory(rows.get(key) ?? []))
    .filter((history) => history !== null);
}

function toLedgerRow({ scanId, answerId, data, ...members }: Row<'ledger'>): LedgerRow {
  return {
    ...members,
    scanId: scanId ?? undefined,
    answerId: answerId ?? undefined,
    data: objectFromStoredJson(data),
  };
}

export const TERMINAL_STATES: readonly LedgerState[] = LEDGER_STATES.filter(isTerminal);

/** True if nothing, or only a new claim, may follow this state. Recovery ignores such a key. */
export function isTerminal(state: LedgerState): boolean {
  return STATE_RULES[state].next.every((nextState) => nextState === 'claimed');
}

/** All steps of one key, including those of released claims. */
export type LedgerHistory = {
  readonly key: string;
  /** Sorted by step, ascending; never empty. */
  readonly rows: readonly LedgerRow[];
  readonly last: LedgerRow;
};

function toLedgerHistory(rows: readonly LedgerRow[]): LedgerHistory | null {
  const sorted = rows.toSorted((a, b) => a.step - b.step);
  const last = sorted.at(-1);
  return last === undefined ? null : { key: last.key, rows: sorted, last };
}

/** True if the key and its authorization ended long ago: over an hour ago if the payment was never sent. */
export function isHistoryExpired({ rows, last }: LedgerHistory, nowMs: number): boolean {
  if (!isTerminal(last.state)) return false;
  const lastAtMs = Math.max(...rows.map((row) => row.atMs));
  if (last.state === 'released' && rows.every((row) => row.state !== 'settling')) {
    return lastAtMs + RETENTION_MS.unsentKey <= nowMs;
  }
  const validBeforeMs = Math.max(...rows.map((row) => row.validBeforeMs));
  return Math.max(lastAtMs, validBeforeMs) + RETENTION_MS.ledgerKey <= nowMs;
}
