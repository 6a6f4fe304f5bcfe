/** Lint refuses checks and catalogs whose members contradict each other. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Catalog,
  type CatalogCheck,
  loadCatalog,
} from '../../src/scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import { findCatalogBreaches } from '../../tools/lint/catalogs.ts';
import { findRelationBreaches } from '../../tools/lint/check-relations.ts';

const VERSION = '2026-08-14.2';

let checks: readonly DiscoveredCheck[];
let catalog: Catalog;
beforeAll(async () => {
  checks = await discoverChecks();
  catalog = await loadCatalog(VERSION, { checks });
});

/** Returns version 1 of a check. */
function check(id: string, requires: readonly string[] = [], title = 'check') {
  return { id, title, version: 1, definition: { id, version: 1, requires } };
}

describe('a check', () => {
  test('whose prerequisites are there has no finding', () => {
    expect(findRelationBreaches([check('A1'), check('A2', ['A1'])])).toEqual([]);
  });

  test.each([
    ['an unknown prerequisite', [check('A1', ['Z9'])], 'it requires Z9: no such check'],
    ['itself as its prerequisite', [check('A1', ['A1'])], 'A1 requires itself'],
    ['a circle', [check('A1', ['A2']), check('A2', ['A1'])], 'A1 requires itself'],
    ['two folders', [check('A1'), check('A1', [], 'other')], 'A1 has two folders'],
    ['another id', [{ ...check('A1'), id: 'A2' }], 'id is "A1", the folder says "A2"'],
    ['another version', [{ ...check('A1'), version: 2 }], 'version is 1, the file says 2'],
  ])('with %s is refused', (_case, refused, message) => {
    expect(findRelationBreaches(refused).map((finding) => finding.message)).toContainEqual(
      expect.stringContaining(message),
    );
  });
});

describe('a catalog', () => {
  function withCheck(id: string, changes: Partial<CatalogCheck>) {
    return (one: Catalog): Catalog => ({
      ...one,
      checks: one.checks.map((entry) => (entry.id === id ? { ...entry, ...changes } : entry)),
    });
  }

  test('that we ship has no finding', () => {
    expect(findCatalogBreaches(catalog, VERSION, checks)).toEqual([]);
  });

  test.each([
    ['an id twice', withCheck('P1', { id: 'P2' }), 'P2 is listed twice'],
    ['an unknown implementation', withCheck('P1', { impl: 'P1@99' }), 'P1@99 is not in checks/'],
    ['the implementation of another check', withCheck('P1', { impl: 'P3@1' }), 'P1 runs P3@1'],
    ['a different title', withCheck('P1', { title: 'reachable' }), 'P1 is "reachable" here'],
    [
      'a wrong count of checks',
      withCheck('S7', { category: 'protocol' }),
      'protocol says 8 checks and has 9',
    ],
    [
      'an unknown scoring',
      (one: Catalog) => ({ ...one, scoring: 'toString' }) as unknown as Catalog,
      'toString is not known',
    ],
    [
      'the version of another catalog',
      (one: Catalog) => ({ ...one, checksVersion: '2026-07-25.1' }),
      'checksVersion is 2026-07-25.1',
    ],
    [
      'no prerequisite of a check that it runs',
      (one: Catalog) => ({ ...one, checks: one.checks.filter(({ id }) => id !== 'P2') }),
      'requires P2, not in this catalog',
    ],
  ])('with %s is refused', (_case, change, message) => {
    expect(findCatalogBreaches(change(catalog), VERSION, checks)).toContainEqual(
      expect.stringContaining(message),
    );
  });
});
