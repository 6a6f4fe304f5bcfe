/** Scan results and unpaid scans on MongoDB. */
import type { ScanResult, ScanResultStore } from '../contract/results.ts';
import { packReport } from '../shared/packing.ts';
import { objectFromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { MongoContext } from './context.ts';
import type { ResultDocument } from './documents.ts';
import { findReport } from './reports.ts';
import { idOf } from './table.ts';

/** Results looked at together for the newest unpublished one; there is hardly ever a second. */
const WAITING_BATCH = 10;

export function mongoResults(context: MongoContext): ScanResultStore {
  const { results, reports, changes, records, unpaid, now } = context;

  async function toResult(row: ResultDocument | null): Promise<ScanResult | null> {
    if (!row) return null;
    const { _id: scanId, host, scannedAtMs, submittedUrl } = row;
    const json = await findReport(context, scanId);
    if (json === null) return null;
    const report = objectFromStoredJson(Buffer.from(json).toString());
    return { scanId, host, scannedAtMs, submittedUrl, report };
  }

  return {
    async save({ scanId, host, scannedAtMs, submittedUrl, report }) {
      const packed = await packReport(toStoredJson(report, `the report of ${host}`));
      // The report first: a result that is there has one.
      await reports.insert({ _id: scanId, scannedAtMs, report: packed });
      await results.insert({ _id: scanId, host, scannedAtMs, submittedUrl });
    },

    async byScan(scanId) {
      return toResult(await results.byId(scanId));
    },

    async waiting(host, sinceMs) {
      const newest = results.batches(
        { host, scannedAtMs: { $gte: sinceMs } },
        { sort: { scannedAtMs: -1, _id: -1 }, projection: { _id: 1 } },
        WAITING_BATCH,
      );
      for await (const batch of newest) {
        const scanIds = batch.map((result) => result._id);
        const projection = { scanId: 1 };
        const published = await changes.all({ scanId: { $in: scanIds } }, { projection });
        const known = new Set(published.map((change) => change.scanId));
        const found = scanIds.find((scanId) => !known.has(scanId));
        if (found !== undefined) return toResult(await results.byId(found));
      }
      return null;
    },

    async published(host) {
      const record = await records.byId(host);
      return record && toResult(await results.byId(record.scanId));
    },

    async noteUnpaid({ payer, scanId, host, isDebt }) {
      const _id = idOf(payer, scanId);
      const isNew = await unpaid.insert({ _id, payer, scanId, host, isDebt, atMs: now() });
      if (!isNew && isDebt) await unpaid.set(_id, { isDebt, atMs: now() }, { isDebt: false });
    },

    async clearUnpaid({ payer, scanId }) {
      await unpaid.remove({ _id: idOf(payer, scanId) });
    },

    async unpaid(payer, sinceMs) {
      const marks = await unpaid.all({ payer, atMs: { $gte: sinceMs } }, { sort: { atMs: -1 } });
      return marks.map(({ scanId, host, isDebt, atMs }) => ({ scanId, host, isDebt, atMs }));
    },
  };
}
