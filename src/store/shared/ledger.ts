import type { InsertOutcome } from '../contract/insert-outcome.ts';
import type { LedgerAppend, LedgerEntry, LedgerRow, LedgerStore } from '../contract/ledger.ts';
import type { StoreContext } from './context.ts';
import { isTerminal, type LedgerHistory, ledgerEntry, ledgerHistory } from './ledger-rules.ts';
import { decideNext } from './open-tables.ts';
import { objectFromStoredJson, toStoredJson } from './stored-json.ts';
import type { Row } from './tables.ts';

export function ledgerOn(context: StoreContext): LedgerStore {
  const { ledger, ledgerOpen, ledgerWritten } = context.tables;
  return {
    append: (row) => append(context, row),

    entry: (key) => readEntry(context, key),

    async history(key) {
      return (await readHistories(context, [key]))[0]?.rows ?? [];
    },

    async *unfinished() {
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

    async recent({ payer, request, sinceMs, unwritten = false }) {
      const [steps, open] = await Promise.all([
        ledger.all({ payer, request, state: 'settled', atMs: { from: sinceMs } }),
        ledgerOpen.all({ payer, request }),
      ]);
      const keys = new Set(steps.map((row) => row.key));
      // Answered keys are removed first: a busy payer settles hundreds of keys in minutes, nearly all answered.
      const written = unwritten ? await ledgerWritten.all({ key: { in: [...keys] } }) : [];
      for (const { key } of written) keys.delete(key);
      for (const { key } of open) keys.add(key);
      const entries = await readEntries(context, keys);
      // A marker may outlive its unfinished key, so the state is tested again.
      const isRecent = ({ last, rows }: LedgerEntry) =>
        !isTerminal(last.state) ||
        rows.some((row) => row.state === 'settled' && row.atMs >= sinceMs);
      return entries.filter(isRecent).toSorted((a, b) => b.last.atMs - a.last.atMs);
    },

    async doubts({ payer, sinceMs }) {
      const rows = await ledger.all({ payer, state: 'unknown', atMs: { from: sinceMs } });
      return rows.map(toLedgerRow);
    },

    async settledCount({ payer, sinceMs, limit }) {
      const settled = { payer, state: 'settled', atMs: { from: sinceMs } } as const;
      return (await ledger.all(settled, { limit })).length;
    },

    async markWritten(key) {
      await ledgerWritten.insert({ key, atMs: context.now() });
    },
  };
}

async function append(context: StoreContext, row: LedgerAppend): Promise<InsertOutcome> {
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
  const outcome = await decideNext(ledger, next, previous, { key, step, attempt });
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
  return ledgerEntry(rows.map(toLedgerRow), written?.atMs ?? null);
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
  const found = await tables.ledger.all({ key: { in: wanted } });
  const rows = Map.groupBy(found.map(toLedgerRow), (row) => row.key);
  return wanted
    .map((each) => ledgerHistory(rows.get(each) ?? []))
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
