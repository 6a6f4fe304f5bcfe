/** The page /statistics shows the numbers of the API, in pictures and as text. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CheckStatistics, Statistics } from '../../../../src/service/directory/statistics.ts';
import {
  drawCheckShares,
  drawCountBars,
  drawPriceRange,
} from '../../../../src/service/http/pages/pictures.ts';
import { toStatisticsPage } from '../../../../src/service/http/pages/statistics-page.ts';
import { startApp } from '../../../fixtures/service/start-app.ts';
import { type Site, startSite } from './site-pages.ts';

describe('/statistics', () => {
  let site: Site;
  let html: string;
  let statistics: Statistics;

  beforeAll(async () => {
    site = await startSite();
    html = (await site.service.get('/statistics?days=30')).body;
    statistics = (await site.service.get('/v1/statistics?days=30')).json();
  });
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
  });

  test('shows grades and payers as the API counts them, and says that it rounds', () => {
    const labels = [...html.matchAll(/<svg class="picture bars"[^>]* aria-label="([^"]*)"/g)];
    const [gradesLabel = '', payersLabel = ''] = labels.map(([, label]) => label);
    for (const [grade, count] of Object.entries(statistics.grades)) {
      expect(gradesLabel).toContain(`${grade} ${count}`);
    }
    for (const count of Object.values(statistics.payableBy))
      expect(payersLabel).toContain(String(count));
    expect(html).toContain(`${statistics.origins} host-days`);
    expect(html).toContain('rounded down to multiples of five');
    expect(statistics.origins).toBeGreaterThan(0);
  });

  test('has a row for each check with its four counts', () => {
    const rows = [
      ...html.matchAll(/<tr><th scope="row"><a href="\/checks\/(\w+)">[\s\S]*?<\/tr>/g),
    ];
    expect(rows.map(([, id]) => id)).toEqual(statistics.checks.map(({ id }) => id));
    for (const [index, { pass, warn, fail, notDetermined }] of statistics.checks.entries()) {
      const row = (rows[index]?.[0] ?? '').replace(/<svg[\s\S]*?<\/svg>|<th[\s\S]*?<\/th>/g, '');
      const cells = [...row.matchAll(/<td>(\d+) /g)].map(([, text]) => text);
      expect(cells).toEqual([pass, warn, fail, notDetermined].map(String));
    }
  });

  test('shows the prices of the API', () => {
    const { p10, p50, p90, count } = statistics.prices;
    expect(html).toContain(`10 %: $${p10}`);
    expect(html).toContain(`Half: $${p50}`);
    expect(html).toContain(`90 %: $${p90}`);
    expect(html).toContain(`${count} host-days, exact to 10 %`);
  });

  test('shows the percentiles that the API tells', async () => {
    const prices = { p10: null, p50: 0.01, p90: null, count: 20 };
    expect(toStatisticsPage({ ...statistics, prices }, []).prices).toEqual({
      picture: null,
      phrases: ['half ask at most $0.01'],
      count: 20,
    });
  });

  test('covers the number of days that the query names, and seven for an unknown value', async () => {
    for (const [query, days] of [
      ['', 7],
      ['?days=1', 1],
      ['?days=2', 7],
    ] as const) {
      const { statusCode, body } = await site.service.get(`/statistics${query}`);
      expect([statusCode, body.includes(`last ${days} day`)]).toEqual([200, true]);
    }
  });

  test('has the same numbers of passes and fails as the page of the check', async () => {
    const { body } = await site.service.get('/checks/S8');
    const { pass, fail } = statistics.checks.find(({ id }) => id === 'S8') ?? {};
    expect(body).toContain(`${pass} passed (`);
    expect(body).toContain(`${fail} failed`);
    expect(body).toContain('rounded down to multiples of five');
  });
});

test('the page /statistics is served even before any scan is counted', async () => {
  await using service = await startApp();
  const page = await service.get('/statistics');
  expect(page.statusCode).toBe(200);
  expect(page.body).not.toContain('NaN');
  expect((await service.get('/checks/P1')).body).not.toContain('counted once');
});

test('revision 0.1.0, whose API has no statistics, has no page /statistics', async () => {
  await using service = await startApp({ revision: '0.1.0' });
  expect((await service.get('/statistics')).statusCode).toBe(404);
  expect((await service.get('/')).body).not.toContain('/statistics');
});

describe('a picture', () => {
  test('has a bar as long as its count, and of length 0 for a count of 0', () => {
    const svg = String(
      drawCountBars('Grades', [
        { label: 'A', count: 10 },
        { label: 'B', count: 5 },
        { label: 'C', count: 0 },
      ]),
    );
    const widths = [...svg.matchAll(/ width="(\d+)"/g)].map(([, width]) => Number(width));
    expect(widths).toEqual([150, 75, 0]);
    expect(svg).toContain('aria-label="Grades: A 10, 67 %; B 5, 33 %; C 0, 0 %"');
  });

  test('divides the bar of a check by the shares of results, and is empty without counts', () => {
    const check: CheckStatistics = { id: 'P1', pass: 30, warn: 5, fail: 5, notDetermined: 0 };
    const findWidths = (statistics: CheckStatistics) =>
      [...String(drawCheckShares(statistics)).matchAll(/ width="([\d.]+)"/g)].map(([, width]) =>
        Number(width),
      );
    expect(findWidths(check)).toEqual([150, 25, 25, 0]);
    expect(findWidths({ ...check, pass: 0, warn: 0, fail: 0 })).toEqual([0, 0, 0, 0]);
  });

  test('places prices on a logarithmic line, and spreads equal prices over it', () => {
    const findPositions = (range: Parameters<typeof drawPriceRange>[0]) =>
      [...String(drawPriceRange(range)).matchAll(/cx="(\d+)"/g)].map(([, x]) => Number(x));
    expect(findPositions({ p10: 0.01, p50: 0.1, p90: 1 })).toEqual([50, 200, 350]);
    expect(findPositions({ p10: 0.01, p50: 0.01, p90: 0.01 })).toEqual([50, 200, 350]);
  });
});
