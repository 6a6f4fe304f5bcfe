import type { PaidBy } from '../model/availability.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { publishedScanFromJson } from './published-scan.ts';
import {
  fromStoredJson,
  objectFromStoredJson,
  packReport,
  toStoredJson,
  unpackReport,
} from './stored-values.ts';
import { orderByScan } from './table.ts';
import type { Row } from './tables.ts';

export type ScanResult = {
  /** Random, new for every scan. */
  readonly scanId: string;
  /** Canonical host of the scanned origin. */
  readonly host: string;
  /** Database time, ms; the report's `scannedAt`. */
  readonly scannedAtMs: number;
  /** The URL as it was submitted. */
  readonly submittedUrl: string;
  /** The whole report with its per-check results, at most 8 MiB as JSON. */
  readonly report: JsonObject;
};

export type PublishedResult = ScanResult & { readonly paidBy: PaidBy };

export type StoredRecording = {
  /** JSON; null if it is too large to be kept. */
  readonly text: string | null;
};

export type UnpaidMark = {
  readonly scanId: string;
  readonly host: string;
  /** False while the scan runs, and when our own fault kept the payer from paying. */
  readonly isDebt: boolean;
  readonly atMs: number;
};

type OfPayer = { readonly payer: string };

/**
 * Finished scans with their per-check results. A result is private until its scan is published
 * (`Store.publish`), and then is the host's cached report while no newer scan is published.
 * It is purged 24 h after `scannedAtMs`, or once no unfinished ledger key names the scan, whichever is
 * later.
 */
export function resultsOn(context: StoreContext) {
  const { tables, now } = context;
  const { results, reports, recordings, changes, records, unpaid } = tables;

  async function toResult(row: Row<'results'> | null): Promise<ScanResult | null> {
    if (row === null) return null;
    const json = await findReport(context, row.scanId);
    if (json === null) return null;
    return { ...row, report: objectFromStoredJson(Buffer.from(json).toString()) };
  }

  return {
    /** Idempotent by scan id: the first stays. */
    async save({ scanId, host, scannedAtMs, submittedUrl, report }: ScanResult): Promise<void> {
      const packed = await packReport(toStoredJson(report, `the report of ${host}`));
      // The report is stored first, so that every stored result has one.
      await reports.insert({ scanId, scannedAtMs, report: packed });
      await results.insert({ scanId, host, scannedAtMs, submittedUrl });
    },

    async findByScan(scanId: string): Promise<ScanResult | null> {
      return toResult(await results.get(scanId));
    },

    /** Keeps the recording of a scan for an hour. Idempotent by scan id: the first stays. */
    async keepRecording(scanId: string, { text }: StoredRecording): Promise<void> {
      const recording = text === null ? null : await packReport(text);
      await recordings.insert({ scanId, keptAtMs: now(), recording });
    },

    /** Null if none was kept, or it was purged. */
    async findRecording(scanId: string): Promise<StoredRecording | null> {
      const row = await recordings.get(scanId);
      if (row === null) return null;
      const { recording } = row;
      return { text: recording && (await unpackReport(recording)).toString() };
    },

    /**
     * Finds the newest finished, not yet published result of a host with `scannedAtMs >= sinceMs`. A caller
     * that disconnected, or got 504, may still pay for it.
     */
    async findUnpublished(host: string, sinceMs: number): Promise<ScanResult | null> {
      const recent = { host, scannedAtMs: { from: sinceMs } };
      const rows = await results.all(recent, { order: orderByScan('desc') });
      if (rows.length === 0) return null;
      const published = await changes.all({ scanId: { in: rows.map((row) => row.scanId) } });
      const publishedIds = new Set(published.map((change) => change.scanId));
      return toResult(rows.find((row) => !publishedIds.has(row.scanId)) ?? null);
    },

    /**
     * The result of the host's current published scan (the one with the greatest `scannedAtMs`), or
     * null when there is none or it was purged. The caller decides how fresh it must be.
     */
    async findPublished(host: string): Promise<PublishedResult | null> {
      const record = await records.get(host);
      if (record === null) return null;
      const result = await toResult(await results.get(record.scanId));
      return result && { ...result, paidBy: publishedScanFromJson(record.scan).paidBy ?? 'payer' };
    },

    /**
     * Notes that this payer asked for a scan and has not paid for it. Idempotent by payer and scan; a
     * debt stays a debt, and its `atMs` says when it became one.
     */
    async noteUnpaid(mark: OfPayer & Omit<UnpaidMark, 'atMs'>): Promise<void> {
      const { payer, scanId, host, isDebt } = mark;
      const atMs = now();
      const isNew = await unpaid.insert({ payer, scanId, host, isDebt, atMs });
      if (isNew || !isDebt) return;
      await unpaid.set({ payer, scanId }, { isDebt, atMs }, { isDebt: false });
    },

    /** Removes the mark, because the payer has paid after all. */
    async clearUnpaid({ payer, scanId }: OfPayer & Pick<UnpaidMark, 'scanId'>): Promise<void> {
      await unpaid.remove({ payer, scanId });
    },

    /** Scans that this payer left unpaid since then, newest first. Kept for 24 h. */
    async findUnpaid(payer: string, sinceMs: number): Promise<readonly UnpaidMark[]> {
      const newestFirst = { order: [['atMs', 'desc']] } as const;
      const marks = await unpaid.all({ payer, atMs: { from: sinceMs } }, newestFirst);
      return marks.map(({ scanId, host, isDebt, atMs }) => ({ scanId, host, isDebt, atMs }));
    },
  };
}

/**
 * Finds the report that a new answer may refer to; null once it is so old that a purge may remove it.
 */
export async function findReferableReport(
  context: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const result = await context.tables.results.get(scanId);
  const isKept = result !== null && result.scannedAtMs > context.now() - RETENTION_MS.result;
  return isKept ? findReport(context, scanId) : null;
}

/** Null if there is none. */
export async function findReport(
  { tables }: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const row = await tables.reports.get(scanId);
  return row && (await unpackReport(row.report));
}

export type EcosystemSnapshot = {
  /** Name of the index, listing or chain. */
  readonly source: string;
  /** The question to the source. */
  readonly key: string;
  readonly takenAtMs: number;
  /** At most 8 MiB as JSON; `too_large` otherwise. */
  readonly data: JsonValue;
};

/** Last good answers of third parties. */
export function snapshotsOn({ tables: { snapshots } }: StoreContext) {
  return {
    /** Replaces an older one; an older one never replaces a newer. Kept 90 days. */
    async put({ source, key, takenAtMs, data: value }: EcosystemSnapshot): Promise<void> {
      const data = toStoredJson(value, `the snapshot ${source} ${key}`);
      if (await snapshots.insert({ source, key, takenAtMs, data })) return;
      const older = { takenAtMs: { upTo: takenAtMs } };
      await snapshots.set({ source, key }, { takenAtMs, data }, older);
    },

    async get(source: string, key: string): Promise<EcosystemSnapshot | null> {
      const row = await snapshots.get(source, key);
      return row && { source, key, takenAtMs: row.takenAtMs, data: fromStoredJson(row.data) };
    },
  };
}
