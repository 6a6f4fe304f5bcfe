import type { ScanResult, ScanResultStore } from '../contract/results.ts';
import type { StoreContext } from './context.ts';
import { packReport, unpackReport } from './packing.ts';
import { RETENTION_MS } from './retention.ts';
import { objectFromStoredJson, toStoredJson } from './stored-json.ts';
import { byScan } from './table.ts';
import type { Row } from './tables.ts';

export function resultsOn(context: StoreContext): ScanResultStore {
  const { tables, now } = context;
  const { results, reports, recordings, changes, records, unpaid } = tables;

  async function toResult(row: Row<'results'> | null): Promise<ScanResult | null> {
    if (row === null) return null;
    const json = await findReport(context, row.scanId);
    if (json === null) return null;
    return { ...row, report: objectFromStoredJson(Buffer.from(json).toString()) };
  }

  return {
    async save({ scanId, host, scannedAtMs, submittedUrl, report }) {
      const packed = await packReport(toStoredJson(report, `the report of ${host}`));
      // The report is stored first, so that every stored result has one.
      await reports.insert({ scanId, scannedAtMs, report: packed });
      await results.insert({ scanId, host, scannedAtMs, submittedUrl });
    },

    async byScan(scanId) {
      return toResult(await results.get(scanId));
    },

    async keepRecording(scanId, { text }) {
      const recording = text === null ? null : await packReport(text);
      await recordings.insert({ scanId, keptAtMs: now(), recording });
    },

    async recording(scanId) {
      const row = await recordings.get(scanId);
      if (row === null) return null;
      const { recording } = row;
      return { text: recording && (await unpackReport(recording)).toString() };
    },

    async waiting(host, sinceMs) {
      const recent = { host, scannedAtMs: { from: sinceMs } };
      const found = await results.all(recent, { order: byScan('desc') });
      if (found.length === 0) return null;
      const published = await changes.all({ scanId: { in: found.map((row) => row.scanId) } });
      const known = new Set(published.map((change) => change.scanId));
      return toResult(found.find((row) => !known.has(row.scanId)) ?? null);
    },

    async published(host) {
      const record = await records.get(host);
      return record && toResult(await results.get(record.scanId));
    },

    async noteUnpaid({ payer, scanId, host, isDebt }) {
      const atMs = now();
      const isNew = await unpaid.insert({ payer, scanId, host, isDebt, atMs });
      if (isNew || !isDebt) return;
      await unpaid.set({ payer, scanId }, { isDebt, atMs }, { isDebt: false });
    },

    async clearUnpaid({ payer, scanId }) {
      await unpaid.remove({ payer, scanId });
    },

    async unpaid(payer, sinceMs) {
      const newestFirst = { order: [['atMs', 'desc']] } as const;
      const marks = await unpaid.all({ payer, atMs: { from: sinceMs } }, newestFirst);
      return marks.map(({ scanId, host, isDebt, atMs }) => ({ scanId, host, isDebt, atMs }));
    },
  };
}

/**
 * Finds the report that a new answer may refer to; null when the report and its result are about to be
 * purged.
 */
export async function findReferableReport(
  context: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const result = await context.tables.results.get(scanId);
  const isKept = result !== null && result.scannedAtMs > context.now() - RETENTION_MS.result;
  return isKept ? findReport(context, scanId) : null;
}

/** Null where there is none. */
export async function findReport(
  { tables }: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const row = await tables.reports.get(scanId);
  return row && (await unpackReport(row.report));
}
