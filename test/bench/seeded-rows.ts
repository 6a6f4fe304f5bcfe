/** The rows of a seeded directory, as if each host had been scanned once. */
import { toCensusMembers } from '../../src/service/store/census.ts';
import { publishedScanToJson } from '../../src/service/store/published-scan.ts';
import type { Row } from '../../src/service/store/tables.ts';
import { findConfirmations, findHiddenSettings, type SeededHost } from './seeded-hosts.ts';

type SeededRows = {
  readonly [Name in 'records' | 'history' | 'changes']: Row<Name>;
} & { readonly owner: Row<'owners'> | null };

/** `hasHidden`: a few owners hide their host or its branding. */
export function toRows(seeded: SeededHost, hasHidden = true): SeededRows {
  const { n, scan } = seeded;
  const { host, scanId, scannedAtMs, grade, score, checksVersion, branding } = scan;
  const judged = { host, scanId, grade, score };
  return {
    records: {
      ...judged,
      scannedAtMs,
      category: branding.category,
      firstSeenAtMs: scannedAtMs,
      scanCount: 1,
      reached: true,
      paidBy: null,
      paidScan: null,
      ...toCensusMembers(seeded.words && { ...seeded.words, host, excludedAtMs: null }),
      scan: publishedScanToJson(scan),
    },
    history: {
      ...judged,
      seq: 1,
      attempt: scanId,
      scannedAtMs,
      checksVersion,
      scan: null,
      payableBy: scan.payableBy,
      paidBy: null,
      scannerVersion: null,
    },
    changes: {
      ...judged,
      n: n + 1,
      attempt: scanId,
      changeType: 'new',
      // The feed of changes is in the order of `n`, so its times follow `n`, and not the times of the scans.
      changedAtMs: n + 1,
      checksVersion,
      previousGrade: null,
      previousScore: null,
      scannerVersion: null,
      hidden: false,
    },
    owner: toOwnerRow(seeded, hasHidden),
  };
}

function toOwnerRow(seeded: SeededHost, hasHidden: boolean): Row<'owners'> | null {
  const { n, scan } = seeded;
  const hiddenSettings = hasHidden ? findHiddenSettings(seeded) : [];
  const [confirmation] = findConfirmations(seeded);
  if (hiddenSettings.length === 0 && confirmation === undefined) return null;
  return {
    n: n + 1,
    attempt: scan.scanId,
    host: scan.host,
    atMs: scan.scannedAtMs,
    listed: !hiddenSettings.includes('listed'),
    listedBy: null,
    enrichmentSuppressed: hiddenSettings.includes('enrichmentSuppressed'),
    suppressedBy: null,
    confirmedAtMs: confirmation?.confirmedAtMs ?? null,
    tokenHash: 'token',
    keyHash: 'key',
    client: 'client',
  };
}
