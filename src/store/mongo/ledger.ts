/** The ledger, one insert a step on MongoDB. */
import type { InsertOutcome } from '../contract/insert-outcome.ts';
import type { LedgerAppend, LedgerEntry, LedgerRow, LedgerStore } from '../contract/ledger.ts';
import { isTerminal, type LedgerHistory, ledgerEntry, ledgerHistory } from '../shared/ledger.ts';
import { objectFromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { MongoContext } from './context.ts';
import type { LedgerDocument } from './documents.ts';
import { idOf } from './table.ts';

/** Keys read at a time. */
const UNFINISHED_BATCH = 1_000;
/** Longer than any claim that was sent as often as a payment may be. */
const NEWEST_STEPS = 16;

export function mongoLedger(context: MongoContext): LedgerStore {
  return {
    append(row) {
      return append(context, row);
    },

    async entry(key) {
      return readEntry(context, key);
    },

    async history(key) {
      return (await readHistories(context, [key]))[0]?.rows ?? [];
    },

    async *unfinished() {
      const sort = { sinceMs: 1, _id: 1 } as const;
      const seen = new Set<string>();
      for await (const open of context.ledgerOpen.batches({}, { sort }, UNFINISHED_BATCH)) {
        const keys = open.map((marker) => marker.key).filter((key) => !seen.has(key));
        for (const entry of await readEntries(context, keys)) {
          seen.add(entry.key);
          if (isTerminal(entry.last.state)) await removeMarkers(context, entry.last);
          else yield entry;
        }
      }
    },

    async recent({ payer, request, sinceMs, unwritten = false }) {
      const projection = { key: 1 };
      const [steps, open] = await Promise.all([
        context.ledger.all(
          { payer, request, state: 'settled', atMs: { $gte: sinceMs } },
          { projection },
        ),
        context.ledgerOpen.all({ payer, request }, { projection }),
      ]);
      const settled = steps.map((row) => row.key);
      const wanted = unwritten ? await withoutWritten(context, settled) : settled;
      const keys = new Set([...wanted, ...open.map((row) => row.key)]);
      const read = await Promise.all([...keys].map((key) => readEntry(context, key)));
      const entries = read.filter((entry): entry is LedgerEntry => entry !== null);
      // A marker may outlive what it marks.
      const isRecent = ({ last, rows }: LedgerEntry) =>
        !isTerminal(last.state) ||
        rows.some((row) => row.state === 'settled' && row.atMs >= sinceMs);
      return entries.filter(isRecent).toSorted((a, b) => b.last.atMs - a.last.atMs);
    },

    async doubts({ payer, sinceMs }) {
      const atMs = { $gte: sinceMs };
      return (await context.ledger.all({ payer, state: 'unknown', atMs })).map(toLedgerRow);
    },

    async settledCount({ payer, sinceMs, limit }) {
      const rows = await context.ledger.all(
        { payer, state: 'settled', atMs: { $gte: sinceMs } },
        { projection: { _id: 1 }, limit },
      );
      return rows.length;
    },

    async markWritten(key) {
      await context.ledgerWritten.insert({ _id: key, atMs: context.now() });
    },
  };
}

/** A busy payer settles hundreds of keys in a few minutes, and has nearly all of their answers. */
async function withoutWritten(
  { ledgerWritten }: MongoContext,
  keys: readonly string[],
): Promise<readonly string[]> {
  if (keys.length === 0) return keys;
  const marks = await ledgerWritten.all({ _id: { $in: [...keys] } }, { projection: { _id: 1 } });
  const written = new Set(marks.map((mark) => mark._id));
  return keys.filter((key) => !written.has(key));
}

async function append(context: MongoContext, row: LedgerAppend): Promise<InsertOutcome> {
  const atMs = context.now();
  const { key, step, state, attempt, payer, request, validBeforeMs } = row;
  const data = toStoredJson(row.data, `step ${step} of a payment`);
  // The marker goes first: a key may be marked and not there, never there and not marked.
  if (!isTerminal(state) && (step === 1 || state === 'claimed')) {
    const _id = ledgerId(row);
    await context.ledgerOpen.insert({ _id, key, claimStep: step, payer, request, sinceMs: atMs });
  }
  const outcome = await context.ledger.decide({
    _id: ledgerId(row),
    key,
    step,
    state,
    attempt,
    atMs,
    owner: context.owner,
    payer,
    request,
    validBeforeMs,
    scanId: row.scanId ?? null,
    answerId: row.answerId ?? null,
    data,
  });
  if (outcome === 'won' && state === 'claimed' && step > 1) {
    // A purge that took the whole key while this claim was on its way lets another writer start at
    // step 1. Without its predecessor the claim never counted.
    const before = await context.ledger.byId(ledgerId({ key, step: step - 1 }));
    if (before === null) {
      await context.ledger.remove({ _id: ledgerId(row), attempt });
      return 'lost';
    }
  }
  if (outcome === 'won' && isTerminal(state)) await removeMarkers(context, row);
  return outcome;
}

export function ledgerId({ key, step }: { readonly key: string; readonly step: number }): string {
  return idOf(key, step);
}

/** Only those of claims before this end: a later claim has a marker of its own. */
async function removeMarkers(
  { ledgerOpen }: MongoContext,
  end: { readonly key: string; readonly step: number },
): Promise<void> {
  await ledgerOpen.remove({ key: end.key, claimStep: { $lt: end.step } });
}

/** Steps before the last claim are not touched: any caller can make a key have many. */
async function readEntry(
  { ledger, ledgerWritten }: MongoContext,
  key: string,
): Promise<LedgerEntry | null> {
  const newest = { sort: { step: -1 }, limit: NEWEST_STEPS } as const;
  const [found, written] = await Promise.all([
    ledger.all({ key }, newest),
    ledgerWritten.byId(key),
  ]);
  const isCut = found.length === NEWEST_STEPS && found.every((row) => row.state !== 'claimed');
  const documents = isCut ? await ledger.all({ key }) : found;
  return ledgerEntry(documents.map(toLedgerRow), written?.atMs ?? null);
}

/** Entries of as many keys as a sweep takes at a time, in the order of the keys; each key once. */
async function readEntries(
  context: MongoContext,
  keys: readonly string[],
): Promise<readonly LedgerEntry[]> {
  const wanted = [...new Set(keys)];
  if (wanted.length === 0) return [];
  const [histories, written] = await Promise.all([
    readHistories(context, wanted),
    context.ledgerWritten.all({ _id: { $in: wanted } }),
  ]);
  const marks = new Map(written.map((mark) => [mark._id, mark.atMs]));
  return histories
    .map(({ key, rows }) => ledgerEntry(rows, marks.get(key) ?? null))
    .filter((entry): entry is LedgerEntry => entry !== null);
}

/** The histories that there are, in the order of the keys; each key once. */
export async function readHistories(
  { ledger }: MongoContext,
  keys: readonly string[],
): Promise<readonly LedgerHistory[]> {
  const wanted = [...new Set(keys)];
  if (wanted.length === 0) return [];
  const documents = await ledger.all({ key: { $in: wanted } });
  const rows = Map.groupBy(documents.map(toLedgerRow), (row) => row.key);
  return wanted
    .map((key) => ledgerHistory(rows.get(key) ?? []))
    .filter((history): history is LedgerHistory => history !== null);
}

function toLedgerRow({ _id, scanId, answerId, data, ...members }: LedgerDocument): LedgerRow {
  return {
    ...members,
    scanId: scanId ?? undefined,
    answerId: answerId ?? undefined,
    data: objectFromStoredJson(data),
  };
}
