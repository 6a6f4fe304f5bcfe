/** GET /v1/checks lists the check catalog. */
import { expect, test } from 'vitest';
import { startApp } from '../../../fixtures/service/start-app.ts';

test('interface spec 2.4, revision 0.1.0: the catalog is a summary of categories', async () => {
  await using service = await startApp({ revision: '0.1.0' });
  const answer = await service.get('/v1/checks');
  expect(answer.statusCode).toBe(200);
  const { categories, ...rest } = answer.json();
  expect(rest).toEqual({ checksVersion: '2026-07-25.1', totalChecks: 25 });
  expect(
    categories.map(({ key, label, count }: Record<string, unknown>) => [key, label, count]),
  ).toEqual([
    ['protocol', 'Protocol & payment surface', 8],
    ['docs', 'Discovery & agent docs', 12],
    ['directory', 'Ecosystem standing', 5],
  ]);
});

test('interface spec 2.4, revision 0.3.0: the catalog lists every check, and explains the score', async () => {
  await using service = await startApp({ revision: '0.3.0' });
  const { checksVersion, totalChecks, checks, categories, note } = (
    await service.get('/v1/checks')
  ).json();
  expect({ checksVersion, totalChecks }).toEqual({
    checksVersion: '2026-08-14.2',
    totalChecks: 25,
  });
  expect(categories).toHaveLength(3);
  expect(checks.map(({ id }: { id: string }) => id)).toEqual(
    'P1 P2 P3 P4 P5 P6 P7 P8 S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 S11 S12 D1 D2 D3 D4 D5'.split(' '),
  );
  expect(checks[0]).toEqual({
    id: 'P1',
    title: 'http-reachable',
    severity: 'critical',
    category: 'protocol',
  });
  for (const fact of ['scoring@1', 'critical 20', 'Protocol 50', 'at most 49', 'A from 90']) {
    expect(note).toContain(fact);
  }
});

test('/v1/checks answers with the catalog that CHECKS_VERSION names', async () => {
  const environment = { CHECKS_VERSION: '2026-07-25.1' };
  await using service = await startApp({ revision: '0.3.0', environment });
  expect((await service.get('/v1/checks')).json().checksVersion).toBe('2026-07-25.1');
});
