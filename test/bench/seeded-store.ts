/** A store that is full before a case begins. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gradeObservations } from '../../src/scanner/scan/grade-observations.ts';
import { type ScanFindings, toPublishedScan } from '../../src/service/scans/finished-scan.ts';
import type { PublishedScan } from '../../src/service/store/published-scan.ts';
import type { Store } from '../../src/service/store/store.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';
import { openEngine } from './engine.ts';

/** On Linux. */
const MEMORY_FOLDER = '/dev/shm';

export type DataFolder = AsyncDisposable & {
  readonly database: string;
};

/** A folder on disk. `scratch` is in memory if the system has a memory folder, so that syncing is free. */
export async function newDataFolder(kind: 'disk' | 'scratch'): Promise<DataFolder> {
  const parent = kind === 'scratch' && existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
  const folder = await mkdtemp(join(parent, 'bench-'));
  return {
    database: join(folder, 'scanner.db'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A real report, to be stored for as many hosts as a case needs. */
export async function sampleScan(): Promise<ScanFindings> {
  await using engine = await openEngine([]);
  const judged = await gradeObservations(perfectSeller(), new Date().toISOString(), engine.parts);
  return {
    ...judged,
    reached: true,
    rateLimited: false,
    dayWord: 'payable',
    observationsSha256: '0'.repeat(64),
  };
}

/** The same report, as a scan that is published. */
export function publishSample(sample: ScanFindings): PublishedScan {
  const scan = {
    ...sample,
    scanId: 'sample',
    host: hostOf(0),
    scannedAt: new Date().toISOString(),
  };
  return toPublishedScan(scan, { scoring: 'scoring@1' });
}

export function hostOf(n: number): string {
  return `shop-${n}.example.com`;
}

/** Writes one more paid scan for each host. */
export async function publishScans(
  store: Store,
  sample: Awaited<ReturnType<typeof sampleScan>>,
  { hosts, withResults }: { readonly hosts: number; readonly withResults: boolean },
): Promise<void> {
  for (let n = 0; n < hosts; n += 1) {
    const host = hostOf(n);
    const scannedAtMs = store.now();
    const scannedAt = new Date(scannedAtMs).toISOString();
    const origin = `https://${host}`;
    const report = { ...sample.report, origin, scannedAt };
    const findings: ScanFindings = { ...sample, report };
    const scan = { scanId: randomUUID(), host, ...findings };
    if (withResults) {
      const { scanId } = scan;
      await store.results.save({
        scanId,
        host,
        scannedAtMs,
        submittedUrl: origin,
        report: findings,
      });
    }
    await store.publish(toPublishedScan(scan, { scoring: 'scoring@1' }));
  }
}

/** Bytes of the pages that hold something: a file does not shrink when rows go. */
export function usedBytes(database: string): number {
  const reader = new DatabaseSync(database);
  try {
    const [pages, free, size] = ['page_count', 'freelist_count', 'page_size'].map((name) =>
      Number(reader.prepare(`PRAGMA ${name}`).get()?.[name]),
    );
    return ((pages ?? 0) - (free ?? 0)) * (size ?? 0);
  } finally {
    reader.close();
  }
}
