import type { JsonObject } from '../../scanner/model/json.ts';
import type { PaidBy, PayableState, PriceFrom } from '../../scanner/model/payability.ts';
import type { Branding, Grade, Signals, SubScores } from '../../scanner/model/report.ts';
import { StoreError } from './store-error.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';

/** The public part of a scan. It is kept after the results of its checks were purged. */
export type PublishedScan = {
  readonly scanId: string;
  /** Canonical host. */
  readonly host: string;
  /** Database time, ms. */
  readonly scannedAtMs: number;
  readonly grade: Grade;
  /** Integer, 0 to 100. */
  readonly score: number;
  /** Numbers of checks. */
  readonly counts: Readonly<Record<'pass' | 'warn' | 'fail', number>>;
  readonly subScores: SubScores;
  readonly checksVersion: string;
  /** Further facts about the checks that judged the scan, such as the name of the scoring. */
  readonly catalog: JsonObject;
  readonly branding: Branding;
  readonly signals: Signals;
  /** False if the origin answered no request. A host is listed after the first scan that it answered. */
  readonly reached?: boolean | undefined;
  /** Default: `payer`. */
  readonly paidBy?: PaidBy | undefined;
  readonly payableBy: PayableState;
  /** The version of the program that scanned; absent in scans of older releases. */
  readonly scannerVersion?: string | undefined;
  /** Absent or null if no price was judged. */
  readonly priceFrom?: PriceFrom | null | undefined;
};

export function publishedScanToJson(scan: PublishedScan): string {
  const { scanId, host, scannedAtMs, grade, score, checksVersion, catalog } = scan;
  const { pass, warn, fail } = scan.counts;
  const { protocol, docs, standing } = scan.subScores;
  const { displayName, description, category, iconUrl, ogImageUrl } = scan.branding;
  const { registeredIndex, hasRecentSettlement, indexOwnershipVerified, onEcosystemListing } =
    scan.signals;
  // Members are copied one by one, because further members of a caller's object may be private.
  return toStoredJson(
    {
      scanId,
      host,
      scannedAtMs,
      grade,
      score,
      checksVersion,
      catalog,
      counts: { pass, warn, fail },
      subScores: { protocol, docs, standing },
      branding: { displayName, description, category, iconUrl, ogImageUrl },
      signals: { registeredIndex, hasRecentSettlement, indexOwnershipVerified, onEcosystemListing },
      ...(scan.reached === false ? { reached: false } : {}),
      ...(scan.paidBy === 'census' ? { paidBy: 'census' } : {}),
      ...(scan.scannerVersion ? { scannerVersion: scan.scannerVersion } : {}),
      payableBy: scan.payableBy,
      ...(scan.priceFrom ? { priceFrom: toPriceMembers(scan.priceFrom) } : {}),
    },
    `the published scan of ${host}`,
  );
}

function toPriceMembers({ amount, asset, network }: PriceFrom) {
  return { amount, asset, network };
}

export function publishedScanFromJson(text: string): PublishedScan {
  const value = objectFromStoredJson(text);
  if (typeof value['scanId'] !== 'string' || typeof value['branding'] !== 'object') {
    throw new StoreError('corrupt', 'a stored scan lacks its members; restore from a backup');
  }
  // `publishedScanToJson` is the only writer of this text.
  return value as unknown as PublishedScan;
}

/**
 * Makes the members of a record that show a scan.
 * @param paidScan JSON of the newest scan that a payer ordered; null if there is none
 */
export function toScanMembers(newestScan: PublishedScan, paidScan: string | null) {
  const { scanId, scannedAtMs, grade, score, branding } = newestScan;
  const isOfCensus = newestScan.paidBy === 'census';
  return {
    scanId,
    scannedAtMs,
    grade,
    score,
    category: branding.category,
    scan: publishedScanToJson(newestScan),
    paidBy: isOfCensus ? ('census' as const) : null,
    paidScan: isOfCensus ? paidScan : null,
  };
}
