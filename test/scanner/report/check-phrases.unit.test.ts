import { expect, test } from 'vitest';
import { listCatalogs, readCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import { toCheckLabel, toHeading } from '../../../src/scanner/report/check-phrases.ts';

test('each check of each catalog has its own phrase, short enough for a line', async () => {
  const versions = await listCatalogs();
  const checks = (await Promise.all(versions.map((version) => readCatalog(version)))).flatMap(
    ({ catalog }) => catalog.checks,
  );
  const titles = [...new Set(checks.map(({ title }) => title))];
  const phrases = titles.map(toHeading);
  expect(new Set(phrases).size).toBe(titles.length);
  for (const phrase of phrases) expect(phrase).toMatch(/^.{5,30}$/);
});

test.each([
  ['price-integrity', 'Price integrity'],
  ['x402scan-registered', 'Listing on x402scan'],
  ['a-new-check', 'A new check'],
  ['constructor', 'Constructor'],
  ['', ''],
])('the slug %j becomes the phrase %j', (slug, phrase) => {
  expect(toHeading(slug)).toBe(phrase);
});

test('the label of a check has its id, its phrase and its slug', () => {
  expect(toCheckLabel({ id: 'P6', title: 'price-integrity' })).toBe(
    'P6 Price integrity (price-integrity)',
  );
});
