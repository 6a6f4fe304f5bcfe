import type { Grade } from '../model/report.ts';
import type { Branding, Signals } from '../model/scan-outcome.ts';
import type { DirectoryRecord } from '../store/directory.ts';
import { isFeatured } from './freshness.ts';
import { reportUrl } from './report-url.ts';

/** The public form of a directory record (interface spec 2.3). */
export type Project = {
  readonly host: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly iconUrl: string | null;
  readonly ogImageUrl: string | null;
  readonly grade: Grade;
  readonly score: number;
  readonly verified: boolean;
  readonly featured: boolean;
  /** ISO 8601, UTC. */
  readonly lastScannedAt: string;
  readonly signals: Signals;
  readonly reportUrl: string;
};

/** `record` must be listed: the caller has left out owners who opted out. */
export function toProject(record: DirectoryRecord, siteUrl: string, nowMs: number): Project {
  const { displayName, description, iconUrl, ogImageUrl } = visibleBranding(record);
  const { registeredIndex, hasRecentSettlement, indexOwnershipVerified, onEcosystemListing } =
    record.signals;
  return {
    host: record.host,
    displayName,
    description,
    category: record.branding.category,
    iconUrl,
    ogImageUrl,
    grade: record.grade,
    score: record.score,
    verified: record.verified,
    featured: isFeatured(record, nowMs),
    lastScannedAt: new Date(record.scannedAtMs).toISOString(),
    signals: { registeredIndex, hasRecentSettlement, indexOwnershipVerified, onEcosystemListing },
    reportUrl: reportUrl(siteUrl, record.host),
  };
}

/** The host replaces branding that its owner suppressed. */
function visibleBranding(record: DirectoryRecord): Omit<Branding, 'category'> {
  if (!record.enrichmentSuppressed) return record.branding;
  return { displayName: record.host, description: '', iconUrl: null, ogImageUrl: null };
}
