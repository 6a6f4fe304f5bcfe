/** A store that commit 04699594 wrote, before scans named their program and their orderer, opens and is read. */

import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreshReport, toFreeReport } from '../../../src/service/directory/published-report.ts';
import { fromStoredReport } from '../../../src/service/scans/finished-scan.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { folderPerFile } from '../../fixtures/temp-folder.ts';
import { publishedScan } from './contract/samples.ts';

const SQL = new URL('./old-store/at-04699594.sql', import.meta.url);
const SCANNED_AT_MS = Date.UTC(2026, 10, 24, 21);
const DAY = 20_781;

const folder = folderPerFile();
let store: Store;
beforeAll(async () => {
  const path = folder.at('scanner.db');
  const file = new DatabaseSync(path);
  file.exec(readFileSync(SQL, 'utf8'));
  file.close();
  store = await openStore(`sqlite:${path}`, { clock: () => SCANNED_AT_MS + 60_000 });
});
afterAll(async () => {
  await store.close();
});

test('its reports are answered, and its scans have every fact of a finished scan', async () => {
  const report = await findFreshReport(store, 'paid.example');
  if (report === null) throw new Error('the report is not found');
  expect(report).toMatchObject({
    ...{ host: 'paid.example', reached: true, rateLimited: false, dayWord: 'payable' },
    ...{ observationsSha256: 'a'.repeat(64), paidBy: 'payer' },
  });
  expect(toFreeReport(report, 'https://scanner.example')).toMatchObject({
    ...{ grade: 'A', payableBy: 'default', otherWays: [], indexed: [], paidBy: 'payer' },
  });
  const censusResult = await store.results.findByScan('00000000-0000-4000-8000-000000000002');
  expect(censusResult && fromStoredReport(censusResult)).toMatchObject({ dayWord: 'not_payable' });
});

test('its directory, history and changes are listed', async () => {
  const { records } = await store.directory.list({ sort: 'recent', page: 0, pageSize: 10 });
  expect(records.map(({ host, grade, scanCount }) => [host, grade, scanCount]).toSorted()).toEqual([
    ['census.example', 'B', 1],
    ['paid.example', 'A', 1],
  ]);
  const history = await store.history.list('census.example');
  expect(history.map(({ payableBy }) => payableBy)).toEqual(['noChallenge']);
  const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
  expect(changes.map(({ host, changeType }) => [host, changeType])).toEqual([
    ['paid.example', 'new'],
    ['census.example', 'new'],
  ]);
});

test('its watch and its census are found', async () => {
  const due = { upToMs: SCANNED_AT_MS, limit: 10, except: [] };
  expect(await store.watches.findDueLooks(due)).toEqual(['paid.example']);
  expect(await store.watches.findNewest('paid.example')).toMatchObject({
    ...{ isConfirming: false, holdsPlace: true, domain: 'paid.example', client: 'cccccccc' },
  });
  expect(await store.census.findWord('census.example', DAY)).toBe('not_payable');
  expect(await store.census.get('census.example')).toMatchObject({ network: null, isChosen: true });
});

test('a new scan is published after its scans', async () => {
  await store.publish(
    publishedScan({
      ...{ host: 'paid.example', scannedAtMs: SCANNED_AT_MS + 1_000, grade: 'B' },
      ...{ payableBy: 'default', scannerVersion: '0.3.0' },
    }),
  );
  const history = await store.history.list('paid.example');
  expect(history.map(({ grade, scannerVersion }) => [grade, scannerVersion])).toEqual([
    ['A', undefined],
    ['B', '0.3.0'],
  ]);
  expect(await store.directory.get('paid.example')).toMatchObject({ grade: 'B', scanCount: 2 });
});
