/** The changes feed lists publications in order, in pages. */
import { describe, expect, test } from 'vitest';
import { listChanges, parseChangesQuery } from '../../../src/service/directory/list-changes.ts';
import { InvalidParameter } from '../../../src/service/errors/errors.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const SITE = 'https://scanner.example';

describe('interface spec 4.2: the query of the changes feed', () => {
  test('accepts an instant and a limit; the limit is 100 by default', () => {
    const since = '2026-09-01T00:00:00Z';
    const sinceMs = Date.parse(since);
    expect(parseChangesQuery({ since })).toEqual({ sinceMs, limit: 100 });
    for (const limitInstant of ['1970-01-01T00:00:00Z', '9998-12-31T23:59:59.999Z']) {
      expect(parseChangesQuery({ since: limitInstant }).sinceMs).toBe(Date.parse(limitInstant));
    }
    expect(parseChangesQuery({ since, limit: '1' })).toEqual({ sinceMs, limit: 1 });
    expect(parseChangesQuery({ since, limit: '1000' })).toEqual({ sinceMs, limit: 1000 });
  });

  test.each<[{ since?: string; limit?: string }, string]>([
    [{}, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '1969-12-31T23:59:59.999Z' }, 'since'],
    [{ since: '1970-01-01T00:00:00+00:01' }, 'since'],
    [{ since: '9999-01-01T00:00:00Z' }, 'since'],
    [{ since: '9998-12-31T23:59:59-00:01' }, 'since'],
    [{ since: '0000-01-01T00:00:00Z' }, 'since'],
    [{ since: '2026-09-01T00:00:00 02:00' }, 'since'],
    ...['0', '1001', '-1', '1.5', '', 'all', '1e2', ' 5'].map(
      (limit): [{ since: string; limit: string }, string] => [
        { since: '2026-09-01T00:00:00Z', limit },
        'limit',
      ],
    ),
  ])('%j is refused with a message that names the parameter %s', (query, name) => {
    expect(() => parseChangesQuery(query)).toThrow(InvalidParameter);
    expect(() => parseChangesQuery(query)).toThrow(`"${name}"`);
  });
});

test('interface spec 4.2: a change is new, rescanned or grade_changed, and has the earlier grade and score', async () => {
  await using service = await startApp();
  const since = new Date(service.now() - 1).toISOString();
  const scans = [
    ['a.example.com', 'B', 82],
    ['a.example.com', 'B', 85],
    ['b.example.com', 'A', 95],
    ['a.example.com', 'A', 91],
  ] as const;
  for (const [host, grade, score] of scans) {
    service.advance(1_000);
    await service.publish(host, { grade, score });
  }
  const page = await listChanges(service.store, parseChangesQuery({ since }), SITE);
  const at = (seconds: number) => new Date(Date.parse(since) + 1 + seconds * 1_000).toISOString();
  const common = { checksVersion: '2026-08-14.2' };
  const changeOfA = { ...common, host: 'a.example.com', reportUrl: `${SITE}/o/a.example.com` };
  const changeOfB = { ...common, host: 'b.example.com', reportUrl: `${SITE}/o/b.example.com` };
  expect(page).toEqual({
    since,
    count: 4,
    limit: 100,
    hasMore: false,
    nextSince: at(4),
    disclaimer: expect.stringContaining('conformance only'),
    provenance: expect.stringContaining('unverified'),
    changes: [
      { ...changeOfA, changeType: 'new', changedAt: at(1), grade: 'B', score: 82 },
      { ...changeOfA, changeType: 'rescanned', changedAt: at(2), grade: 'B', score: 85 },
      { ...changeOfB, changeType: 'new', changedAt: at(3), grade: 'A', score: 95 },
      {
        ...changeOfA,
        changeType: 'grade_changed',
        changedAt: at(4),
        grade: 'A',
        score: 91,
        previousGrade: 'B',
        previousScore: 85,
      },
    ],
  });
});

test('pages by nextSince hold each change once, even if all were published in one millisecond', async () => {
  await using service = await startApp();
  const hosts = Array.from({ length: 7 }, (_value, index) => `shop${index}.example.com`);
  for (const host of hosts) await service.publish(host);
  let since = new Date(service.now() - 1).toISOString();
  const listedHosts: string[] = [];
  for (let hasMore = true; hasMore; ) {
    const query = parseChangesQuery({ since, limit: '3' });
    const page = await listChanges(service.store, query, SITE);
    listedHosts.push(...page.changes.map(({ host }) => host));
    ({ hasMore, nextSince: since } = page);
  }
  expect(listedHosts).toEqual(hosts);
  const lastPage = await listChanges(service.store, parseChangesQuery({ since }), SITE);
  expect(lastPage).toMatchObject({ count: 0, hasMore: false, nextSince: since, changes: [] });
});
