import type { JsonObject } from '../model/json.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { type InstanceId, LEDGER_STATES, type LedgerState, STATE_RULES } from './payment-tables.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import { type InsertOutcome, insertNext } from './table.ts';
import type { Row } from './tables.ts';

/** A step as its writer gives it; the store adds the time and the owner. */
export type NewLedgerRow = {
  /** Decoded `(network, asset, from, nonce)` as one string, canonical in case; never header bytes. */
  readonly key: string;
  /** 1 for the first step of a key, then the last step that the writer has seen + 1. */
  readonly step: number;
  readonly state: LedgerState;
  /** Random, at least 128 bits, new for every step; kept the same when a step is tried again. */
  readonly attempt: string;
  /** The address that signed, canonical in case. */
  readonly payer: string;
  /** Route and canonical request as one string. */
  readonly request: string;
  /** End of the authorization, ms since the epoch. */
  readonly validBeforeMs: number;
  /** The scan that this call computes or uses, once known: keeps its result from being purged. */
  readonly scanId?: string | undefined;
  /** The stored answer, once there is one: keeps it from being purged too early. */
  readonly answerId?: string | undefined;
  /** Price, signed payload, reason, transaction and whatever else recovery needs. */
  readonly data: JsonObject;
};

export type LedgerRow = NewLedgerRow & {
  /** Database time at which the row was written, ms. */
  readonly atMs: number;
  readonly owner: InstanceId;
};

export type LedgerEntry = {
  readonly key: string;
  /**
   * Steps of the current claim, ascending, from the last `claimed` on; never empty. Earlier claims were
   * released, and the current claim repeats in its own data whatever is still needed of them.
   */
  readonly rows: readonly LedgerRow[];
  /** The last of `rows`. */
  readonly last: LedgerRow;
  /** Time at which an answer for this key was written to a client in full, or null. */
  readonly writtenAtMs: number | null;
};

type OfPayer = { readonly payer: string; readonly sinceMs: number };
type RecentQuery = OfPayer & { readonly request: string; readonly withoutWritten?: boolean };

/** Append-only steps of payments, `(key, step)` unique. Nothing is ever updated. */
export type LedgerStore = ReturnType<typeof ledgerOn>;

export function ledgerOn(context: StoreContext) {
  const { ledger, ledgerOpen, ledgerWritten } = context.tables;
  return {
    /**
     * Durable (synced, majority) before it returns; on an embedded store the steps before `settling`, and `published`, only with
     * the next durable row. On `lost` the writer stops for good.
     */
    append: (row: NewLedgerRow): Promise<InsertOutcome> => append(context, row),

    /** Returns the current claim of a key, or null. The cost does not grow with the number of earlier claims. */
    findEntry: (key: string): Promise<LedgerEntry | null> => readEntry(context, key),

    /** Returns every step of a key, ascending, also those of released claims. Meant for audits. */
    async findAllSteps(key: string): Promise<readonly LedgerRow[]> {
      return (await readHistories(context, [key]))[0]?.rows ?? [];
    },

    /**
     * Every key whose last step is not terminal, oldest claim first, each once. Rows are read in
     * batches, so that a long list does not have to fit in memory.
     */
    async *findUnfinished(): AsyncIterable<LedgerEntry> {
      const order = [['sinceMs', 'asc']] as const;
      const seen = new Set<string>();
      for await (const open of ledgerOpen.batches({}, { order })) {
        const keys = new Set(open.map(({ key }) => key).filter((key) => !seen.has(key)));
        for (const entry of await readEntries(context, keys)) {
          seen.add(entry.key);
          if (isTerminal(entry.last.state)) await ledgerOpen.remove(markersBefore(entry.last));
          else yield entry;
        }
      }
    },

    /**
     * Keys of this payer and request that are unfinished (however old), or were settled at or after
     * `sinceMs`. Newest last step first. Released keys are not read: any caller can write them for free.
     * `withoutWritten`: without those whose answer was written in full.
     */
    async findRecent({
      payer,
      request,
      sinceMs,
      withoutWritten = false,
    }: RecentQuery): Promise<readonly LedgerEntry[]> {
      const [steps, open] = await Promise.all([
        ledger.all({ payer, request, state: 'settled', atMs: { from: sinceMs } }),
        ledgerOpen.all({ payer, request }),
      ]);
      const keys = new Set(steps.map((row) => row.key));
      // Answered keys are removed first: a busy payer settles hundreds of keys in minutes, nearly all answered.
      const written = withoutWritten ? await ledgerWritten.all({ key: { in: [...keys] } }) : [];
      for (const { key } of written) keys.delete(key);
      for (const { key } of open) keys.add(key);
      const entries = await readEntries(context, keys);
      // A marker may outlive its unfinished key, so the state is tested again.
      const isRecent = ({ last, rows }: LedgerEntry) =>
        !isTerminal(last.state) ||
        rows.some((row) => row.state === 'settled' && row.atMs >= sinceMs);
      return entries.filter(isRecent).toSorted((a, b) => b.last.atMs - a.last.atMs);
    },

    /** Returns the steps `unknown` of all keys of this payer that were written at or after `sinceMs`. */
    async findUnknownSteps({ payer, sinceMs }: OfPayer): Promise<readonly LedgerRow[]> {
      const rows = await ledger.all({ payer, state: 'unknown', atMs: { from: sinceMs } });
      return rows.map(toLedgerRow);
    },

    /** Number of keys of this payer that were settled at or after `sinceMs`; counts up to `limit`. */
    async countSettled({
      payer,
      sinceMs,
      limit,
    }: OfPayer & { readonly limit: number }): Promise<number> {
      const settled = { payer, state: 'settled', atMs: { from: sinceMs } } as const;
      return (await ledger.all(settled, { limit })).length;
    },

    /** Records that an answer for this key was written in full. The first mark stays. */
    async markWritten(key: string): Promise<void> {
      await ledgerWritten.insert({ key, atMs: context.now() });
    },
  };
}

async function append(context: StoreContext, row: NewLedgerRow): Promise<InsertOutcome> {
  const { ledger, ledgerOpen } = context.tables;
  const atMs = context.now();
  const { key, step, state, attempt, payer, request, validBeforeMs } = row;
  const { scanId = null, answerId = null } = row;
  const data = toStoredJson(row.data, `step ${step} of a payment`);
  // The marker is inserted first: recovery tolerates a marker without a key, but would miss a key without one.
  if (!isTerminal(state) && (step === 1 || state === 'claimed')) {
    await ledgerOpen.insert({ key, claimStep: step, payer, request, sinceMs: atMs });
  }
  const { owner } = context;
  const named = { key, step, state, attempt, atMs, owner, payer, request, validBeforeMs };
  const next = { ...named, scanId, answerId, data };
  // Steps within a claim need no check: their claim is unfinished, so no purge has removed it.
  const previous = state === 'claimed' && step > 1 ? ([key, step - 1] as const) : null;
  const outcome = await insertNext(ledger, next, previous, { key, step, attempt });
  if (outcome === 'won' && isTerminal(state)) await ledgerOpen.remove(markersBefore(row));
  return outcome;
}

/** Selects the markers of claims before this step; a later claim has a marker of its own. */
function markersBefore({ key, step }: { readonly key: string; readonly step: number }) {
  return { key, claimStep: { before: step } };
}

/** Steps before the last claim are not read, because any caller can make a key have many. */
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
  const last = history.rows.findLastIndex((row) => row.state === 'claimed');
  return {
    ...history,
    rows: history.rows.slice(Math.max(0, last)),
    writtenAtMs: written?.atMs ?? null,
  };
}

async function readEntries(
  context: StoreContext,
  keys: ReadonlySet<string>,
): Promise<readonly LedgerEntry[]> {
  const read = await Promise.all(Array.from(keys, (key) => readEntry(context, key)));
  return read.filter((entry) => entry !== null);
}

/** Reads the histories of the keys that have one, in the order of the keys; each key once. */
export async function readHistories(
  { tables }: StoreContext,
  keys: readonly string[],
): Promise<readonly LedgerHistory[]> {
  const wanted = [...new Set(keys)];
  if (wanted.length === 0) return [];
  const steps = await tables.ledger.all({ key: { in: wanted } });
  const rows = Map.groupBy(steps.map(toLedgerRow), (row) => row.key);
  return wanted
    .map((each) => toLedgerHistory(rows.get(each) ?? []))
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

/** True if only a new claim may follow; recovery ignores such a key. */
export function isTerminal(state: LedgerState): boolean {
  return STATE_RULES[state].next.every((after) => after === 'claimed');
}

/** Every step of one key, also those of released claims. */
export type LedgerHistory = {
  readonly key: string;
  /** Sorted by step, ascending; never empty. */
  readonly rows: readonly LedgerRow[];
  /** The last of `rows`. */
  readonly last: LedgerRow;
};

/** Sorts the rows of one key; null for no rows. */
function toLedgerHistory(rows: readonly LedgerRow[]): LedgerHistory | null {
  const sorted = rows.toSorted((a, b) => a.step - b.step);
  const last = sorted.at(-1);
  return last === undefined ? null : { key: last.key, rows: sorted, last };
}

/**
 * The steps of a key may be purged once the key and its authorization have ended for long enough; one hour is
 * enough if the payment was never sent.
 */
export function isHistoryExpired({ rows, last }: LedgerHistory, nowMs: number): boolean {
  if (!isTerminal(last.state)) return false;
  const lastAtMs = Math.max(...rows.map((row) => row.atMs));
  if (last.state === 'released' && rows.every((row) => row.state !== 'settling')) {
    return lastAtMs + RETENTION_MS.unsentKey <= nowMs;
  }
  const validBeforeMs = Math.max(...rows.map((row) => row.validBeforeMs));
  return Math.max(lastAtMs, validBeforeMs) + RETENTION_MS.ledgerKey <= nowMs;
}
