import type { PublishedScan } from '../contract/published-scan.ts';
import { StoreError } from '../contract/store-error.ts';
import { objectFromStoredJson, toStoredJson } from './stored-json.ts';

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
    },
    `the published scan of ${host}`,
  );
}

export function publishedScanFromJson(text: string): PublishedScan {
  const value = objectFromStoredJson(text);
  if (typeof value['scanId'] !== 'string' || typeof value['branding'] !== 'object') {
    throw new StoreError('corrupt', 'a stored scan lacks its members; restore from a backup');
  }
  // The function above is the only writer of this text, and migrations keep it in step.
  return value as unknown as PublishedScan;
}
