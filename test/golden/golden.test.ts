import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CATALOG_FOLDER,
  type Catalog,
  listCatalogs,
  loadCatalog,
  type Published,
  readPublished,
} from '../../src/scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../src/scanner/engine/judging-pool.ts';
import { type JsonValue, readMembers } from '../../src/scanner/model/json.ts';
import type { ScanReport } from '../../src/scanner/model/report.ts';
import { limitToCatalog } from '../../src/scanner/probe/recording.ts';
import { gradeObservations } from '../../src/scanner/scan/grade-observations.ts';
import {
  cellOf,
  explainChanges,
  forbiddenChanges,
  type GoldenTable,
  parseTable,
  tableChanges,
} from './golden-table.ts';
import { type RecordedOrigin, recordedOrigins } from './recorded-origins.ts';

const IS_UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const REPORTS_FOLDER = new URL('./reports/', import.meta.url);
const TABLE_URL = new URL('./table.golden.json', import.meta.url);

const versions = await listCatalogs();
const newestVersion = versions.at(-1) ?? '';
const origins = await recordedOrigins();

let checks: readonly DiscoveredCheck[];
let pool: Pool;
let published: Published;
/** The reason why UPDATE_GOLDEN=1 must not write; empty if it may write. */
let refusal = '';
/** Keys are catalog and origin. The tests of reports fill this map for the table. */
const judgedReports = new Map<string, Map<string, ScanReport>>();
const catalogs = new Map<string, Catalog>();

beforeAll(async () => {
  checks = await discoverChecks();
  published = await readPublished(CATALOG_FOLDER);
  pool = createPool();
  for (const version of versions) catalogs.set(version, await loadCatalog(version, { checks }));
  const oldTable = await readFile(TABLE_URL, 'utf8').catch(() => null);
  // Decide before writing, because a refused update must not change any golden file.
  if (IS_UPDATE && oldTable !== null) {
    refusal = explainChanges(
      forbiddenChanges(parseTable(oldTable), await computeTable(), isPinned),
    );
  }
});
afterAll(() => pool.close());

test('the golden table has recorded origins', () => {
  expect(origins.length).toBeGreaterThan(0);
});

describe.each(versions)('under catalog %s', (version) => {
  test.each(origins)('$name gets its golden report', async (origin) => {
    const outcome = await judgeRecorded(origin, version);
    expect(outcome.report.results).toHaveLength(25);
    // A report of an older catalog is kept as its differences from that of the newest one.
    const kept =
      version === newestVersion
        ? outcome
        : listDifferences(await judgeRecorded(origin, newestVersion), outcome);
    const text = `${JSON.stringify(kept, null, 2)}\n`;
    const golden = await readGolden(reportUrl(version, origin.name), text);
    expect(text).toBe(golden);
  });

  test('no golden report belongs to a removed origin', async () => {
    const folder = new URL(`${version}/`, REPORTS_FOLDER);
    const expected = origins.map(({ name }) => `${name}.golden.json`);
    for (const file of await readdir(folder).catch(() => [])) {
      if (IS_UPDATE && !expected.includes(file))
        await rm(new URL(encodeURIComponent(file), folder));
      else expect(expected).toContain(file);
    }
  });
});

describe('the table of all cells', () => {
  test('is unchanged: no cell moves without a new version of its check', async () => {
    const now = await computeTable();
    const text = `${JSON.stringify(now, null, 2)}\n`;
    if (IS_UPDATE) {
      expect(refusal).toBe('');
      await writeFile(TABLE_URL, text);
      return;
    }
    const oldTable = await readFile(TABLE_URL, 'utf8').catch(() => null);
    if (oldTable === null) throw new Error('There is no golden table: run with UPDATE_GOLDEN=1.');
    expect(explainChanges(tableChanges(parseTable(oldTable), now))).toBe('');
    expect(parseTable(oldTable).recordings).toEqual(now.recordings);
  });
});

type Differences = Readonly<Record<string, JsonValue>>;

/** Values of `other` by JSON pointer, wherever it differs; null where it has no value. */
function listDifferences(newest: unknown, other: unknown): Differences {
  const [left, right]: readonly JsonValue[] = JSON.parse(JSON.stringify([newest, other]));
  return Object.fromEntries(listPointers(left ?? null, right ?? null, ''));
}

function listPointers(
  left: JsonValue,
  right: JsonValue,
  at: string,
): readonly (readonly [string, JsonValue])[] {
  if (JSON.stringify(left) === JSON.stringify(right)) return [];
  const [before, after] = [readMembers(left), readMembers(right)];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const isAlike = Array.isArray(left)
    ? Array.isArray(right) && left.length === right.length
    : names.size > 0 && !Array.isArray(right);
  if (!isAlike) return [[at, right]];
  return [...names].flatMap((name) =>
    listPointers(toValue(before[name]), toValue(after[name]), `${at}/${name}`),
  );
}

/** Values that came from JSON are JSON again. */
function toValue(value: unknown): JsonValue {
  return (value ?? null) as JsonValue;
}

async function judgeRecorded({ name, recording }: RecordedOrigin, version: string) {
  const catalog = catalogs.get(version);
  if (!catalog) throw new Error(`Catalog ${version} did not load.`);
  const observations = limitToCatalog(recording.observations, catalog.probing);
  const outcome = await gradeObservations(observations, recording.scannedAt, {
    catalog,
    checks,
    pool,
  });
  const reports = judgedReports.get(version) ?? new Map<string, ScanReport>();
  judgedReports.set(version, reports.set(name, outcome.report));
  return outcome;
}

async function computeTable(): Promise<GoldenTable> {
  const cells: GoldenTable['cells'] = {};
  for (const version of versions) {
    const columns: Record<string, Record<string, string>> = {};
    for (const origin of origins) {
      const report =
        judgedReports.get(version)?.get(origin.name) ??
        (await judgeRecorded(origin, version)).report;
      for (const [at, { impl }] of (catalogs.get(version)?.checks ?? []).entries()) {
        const result = report.results[at];
        if (result) columns[impl] = { ...columns[impl], [origin.name]: cellOf(result) };
      }
    }
    cells[version] = columns;
  }
  return {
    recordings: Object.fromEntries(origins.map(({ name, digest }) => [name, digest])),
    cells,
  };
}

/** The cells of a published catalog must not change. */
function isPinned(catalog: string): boolean {
  return Object.hasOwn(published.catalogs, catalog);
}

function reportUrl(version: string, name: string): URL {
  return new URL(`${version}/${encodeURIComponent(name)}.golden.json`, REPORTS_FOLDER);
}

async function readGolden(url: URL, now: string): Promise<string> {
  if (IS_UPDATE && refusal === '') {
    await mkdir(new URL('./', url), { recursive: true });
    await writeFile(url, now);
  }
  return readFile(url, 'utf8').catch(() => {
    throw new Error(`${url.pathname} is missing: run with UPDATE_GOLDEN=1.`);
  });
}
