/** Sample rows. */

import { randomUUID } from 'node:crypto';
import type { NewLedgerRow } from '../../../../src/service/store/ledger.ts';
import type { IssuedToken } from '../../../../src/service/store/ownership.ts';
import type { LedgerState } from '../../../../src/service/store/payment-tables.ts';
import type { PublishedScan } from '../../../../src/service/store/published-scan.ts';
import type { ScanResult } from '../../../../src/service/store/results.ts';

export function ledgerStep(
  key: string,
  step: number,
  state: LedgerState,
  more: Partial<NewLedgerRow> = {},
): NewLedgerRow {
  return {
    key,
    step,
    state,
    attempt: randomUUID(),
    payer: '0xpayer',
    request: 'POST /v1/scan api.example.com',
    validBeforeMs: 0,
    data: {},
    ...more,
  };
}

export function publishedScan(more: Partial<PublishedScan> = {}): PublishedScan {
  return {
    scanId: randomUUID(),
    host: 'api.example.com',
    scannedAtMs: Date.UTC(2026, 8, 1, 12),
    grade: 'B',
    score: 84,
    counts: { pass: 20, warn: 3, fail: 2 },
    subScores: { protocol: 90, docs: 80, standing: null },
    checksVersion: '2026-08-14.2',
    catalog: { scoring: 'scoring@1' },
    branding: {
      displayName: 'Example',
      description: 'Sells examples',
      category: 'data',
      iconUrl: 'https://api.example.com/icon.png',
      ogImageUrl: null,
    },
    signals: {
      registeredIndex: true,
      hasRecentSettlement: null,
      indexOwnershipVerified: false,
      onEcosystemListing: false,
    },
    payableBy: 'noChallenge',
    ...more,
  };
}

export function scanResult(more: Partial<ScanResult> = {}): ScanResult {
  return {
    scanId: randomUUID(),
    host: 'api.example.com',
    scannedAtMs: Date.UTC(2026, 8, 1, 12),
    submittedUrl: 'https://api.example.com/some/path',
    report: { grade: 'B', results: [{ id: 'P1', status: 'pass', evidence: 'GET /: 200 ✓' }] },
    ...more,
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** A token that was issued to one client of one address block. */
export function issuedToken(tokenHash: string, client = 'client-1', block = client): IssuedToken {
  return { tokenHash, keyHash: `key of ${tokenHash}`, client, block };
}
