/** Pictures show the numbers of the API, have marks besides colours, and escape text. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listScoreCosts, scoreResults } from '../../../../src/scanner/engine/score.ts';
import type { ReportBody } from '../../../../src/service/directory/published-report.ts';
import { drawGradeHistogram, markup } from '../../../../src/service/http/pages/pictures.ts';
import {
  drawCheckStrip,
  drawScoreHistory,
  drawWaterfall,
  writeWaterfall,
} from '../../../../src/service/http/pages/score-pictures.ts';
import { type Site, startSite } from './site-pages.ts';

describe("the pictures of a report page show the API's values", () => {
  let site: Site;
  let html: string;
  let report: ReportBody;

  beforeAll(async () => {
    site = await startSite();
    html = (await site.service.get('/o/shop.example.com')).body;
    report = (await site.service.get('/v1/report?url=shop.example.com')).json();
  });
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
  });

  const findLabel = (picture: string) =>
    new RegExp(`<svg class="picture ${picture}"[^>]* aria-label="([^"]*)"`).exec(html)?.[1];

  test('the waterfall of costs goes from 100 to the score', () => {
    const { results, score } = report;
    const costs = listScoreCosts(results, scoreResults, report);
    const terms = costs.filter(({ points }) => points > 0);
    expect(100 - terms.reduce((sum, { points }) => sum + points, 0)).toBe(score);
    const text = `${['100', ...terms.map(({ id, points }) => `${id} −${points}`)].join(', ')} = ${score}`;
    expect(findLabel('waterfall')).toBe(text);
    expect(html).toContain(`<p class="meta">${text}</p>`);
  });

  test('the strips have one mark for each check of each of the three scans', () => {
    const strips = [...html.matchAll(/<svg class="picture strip"[\s\S]*?<\/svg>/g)].map(
      ([svg]) => svg,
    );
    expect(strips).toHaveLength(3);
    const marks = strips.join('').match(/class="mark-[a-z]+">[^<]+/g) ?? [];
    const count = (mark: string) =>
      marks
        .join('')
        .split('')
        .filter((character) => character === mark).length;
    const total = count('✓') + count('!') + count('✗') + count('?');
    expect(total).toBe(3 * 25);
    const failed = report.results.filter(({ status }) => status === 'fail');
    // Of the two earlier scans, one failed P6 and the other failed nothing.
    expect(count('✗')).toBe(failed.length + 1);
    for (const { id } of failed) expect(strips.join('')).toContain(`${id} fail`);
  });

  test('the matrix has each offer with the verdict of its client', () => {
    const matrix = /<table class="matrix">[\s\S]*?<\/table>/.exec(html)?.[0] ?? '';
    const offers = (report.payability ?? []).flatMap(({ offers }) => offers);
    expect(matrix.match(/<th scope="row">/g)).toHaveLength(offers.length);
    for (const { verdict } of offers) expect(matrix).toContain(`verdict-${verdict}`);
    expect(matrix.match(/verdict-none/g)).toHaveLength(offers.length);
  });

  test('the histogram has the counts of the directory, and marks this origin', async () => {
    const { projects } = (await site.service.get('/v1/directory')).json();
    const grades: string[] = projects.map(({ grade }: { grade: string }) => grade);
    const counts = ['A', 'B', 'C', 'D', 'F'].map(
      (grade) => `${grade} ${grades.filter((listed) => listed === grade).length}`,
    );
    expect(findLabel('histogram')).toBe(
      `Grades of ${grades.length} listed origins: ${counts.join(', ')}. This origin has ${report.grade}.`,
    );
    expect(html).toContain(`of ${grades.length} listed origins.`);
  });

  test('the history has a point for each scan, and a table beside it', async () => {
    const rows = await site.service.store.history.list('shop.example.com');
    const svg = /<svg class="picture history"[\s\S]*?<\/svg>/.exec(html)?.[0] ?? '';
    expect(svg.match(/<circle /g)).toHaveLength(rows.length);
    for (const { score, grade } of rows) {
      expect(html).toContain(`<td>${grade}</td><td>${score}</td>`);
    }
  });
});

test('a history is dashed after a change of the catalog', () => {
  const row = (day: number, score: number, checksVersion: string) => ({
    ...{ grade: 'B' as const, score, checksVersion },
    scannedAtMs: Date.UTC(2026, 7, day),
  });
  const svg = String(
    drawScoreHistory([
      row(1, 80, '2026-07-25.1'),
      row(2, 85, '2026-07-25.1'),
      row(3, 100, '2026-08-14.2'),
    ]),
  );
  expect(svg.match(/class="catalog"/g)).toHaveLength(1);
  expect(svg).toContain('x1="460"');
  const heights = [...svg.matchAll(/cy="(\d+)"/g)].map(([, y]) => Number(y));
  expect(heights).toEqual(heights.toSorted((a, b) => b - a));
});

test('a waterfall of many costs draws the last costs as one step, but its text names every cost', () => {
  const costs = Array.from({ length: 14 }, (_, at) => ({ id: `S${at + 1}`, points: 2 }));
  const waterfall = { score: 72, grade: 'C' as const, costs };
  const svg = String(drawWaterfall(waterfall));
  expect(svg).toContain('>5 more<');
  expect(svg).toContain('>−10<');
  expect(writeWaterfall(waterfall)).toContain('S14 −2 = 72');
  expect(svg).toContain(writeWaterfall(waterfall));
});

test('a histogram without origins has no bars', () => {
  const svg = String(drawGradeHistogram({ A: 0, B: 0, C: 0, D: 0, F: 0 }));
  expect(svg.match(/width="0"/g)).toHaveLength(5);
});

test('text in a picture is escaped once', () => {
  const hostileText = '<script>"&\'</script>';
  const inner = markup`<b>${hostileText}</b>`;
  expect(String(markup`<i>${inner}${[inner]}${hostileText}</i>`)).toBe(
    `<i>${'<b>&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</b>'.repeat(2)}&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</i>`,
  );
  const results = [
    { id: hostileText, category: 'docs', status: 'fail', basis: 'measured' },
  ] as const;
  const svg = String(
    drawCheckStrip({ category: 'docs', label: hostileText }, [{ time: hostileText, results }]),
  );
  expect(svg).not.toContain('<script');
});
