/** Files of older programs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, it } from 'vitest';
import { publishedScanToJson } from '../../src/store/shared/published-scan.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import { publishedScan } from './contract/samples.ts';

const STEPS = 3;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

it('a file from before there were counters is counted when it is opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  folders.push(folder);
  const path = join(folder, 'scanner.db');
  writeOldFile(path, ['a.example.com', 'b.example.com', 'hidden.example.com']);

  const store = openSqlite(path, { clock: () => 2_000 });
  try {
    const list = (q: string, verified = false) =>
      store.directory.list({ sort: 'recent', q, verified, page: 0, pageSize: 9 });
    expect((await list('')).count).toBe(2);
    expect((await list('', true)).records.map(({ host }) => host)).toEqual(['b.example.com']);
    expect((await list('d')).count).toBe(0);
    expect((await list('example')).count).toBe(2);
    expect(await store.directory.grades()).toMatchObject({ A: 0, B: 2 });

    // What was published is known, and what comes now is counted on.
    await store.publish(publishedScan({ host: 'a.example.com', scannedAtMs: 1_500, grade: 'A' }));
    await store.publish(publishedScan({ host: 'c.example.com', scannedAtMs: 1_600 }));
    expect((await list('')).count).toBe(3);
    expect(await store.directory.get('a.example.com')).toMatchObject({ scanCount: 2, grade: 'A' });
    expect(await store.history.list('a.example.com')).toHaveLength(2);
  } finally {
    await store.close();
  }
});

/** As the program that knew the first steps left it. */
function writeOldFile(path: string, hosts: readonly string[]): void {
  const file = new DatabaseSync(path);
  for (const step of MIGRATIONS.slice(0, STEPS)) if (typeof step === 'string') file.exec(step);
  file.exec(`PRAGMA user_version = ${STEPS}`);
  for (const [index, host] of hosts.entries()) {
    const scan = publishedScan({ host, scannedAtMs: 1_000 + index });
    const text = publishedScanToJson(scan);
    const { scanId, scannedAtMs, grade, score, checksVersion, branding } = scan;
    file
      .prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)')
      .run(
        index + 1,
        host,
        scanId,
        scannedAtMs,
        grade,
        score,
        branding.category,
        scannedAtMs,
        text,
      );
    file
      .prepare('INSERT INTO history VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)')
      .run(host, scanId, scannedAtMs, grade, score, checksVersion, scannedAtMs, text);
  }
  file.exec(`
    INSERT INTO listing VALUES ('listed', 'hidden.example.com', 0, 1, NULL);
    INSERT INTO confirms VALUES ('b.example.com', 1000, 'token', 'key', 'client');
  `);
  file.close();
}
