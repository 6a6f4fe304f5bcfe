/** Every page by axe-core, light and dark, on a desk and on a phone: no finding, nothing to scroll sideways. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserUnavailable, startBrowser } from '../../fixtures/browser.ts';
import { needs } from '../../fixtures/needs.ts';
import { DAY_MS, startApp, type TestApp } from '../../fixtures/service/start-app.ts';
import { REPORT } from './full-report.ts';

const PATHS = [
  '/',
  '/o/shop.example.com',
  '/o/never.example.com',
  '/checks',
  '/checks/P3',
  '/checks/P6',
  '/about-scanner',
];
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

describe('the public site', needs(browserUnavailable()), () => {
  let browser: Browser;
  let service: TestApp;
  let base: string;
  let axe: string;

  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    service = await startApp();
    await service.publish('other.example.com', { grade: 'F', score: 12 });
    await service.publish('shop.example.com', {
      grade: 'A',
      score: 97,
      report: { checksVersion: '2026-07-25.1' },
    });
    service.advance(DAY_MS);
    await service.publish('shop.example.com', REPORT);
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [DESK, PHONE].map((viewport) => ({ colorScheme, viewport })),
  );

  test.each(PATHS.flatMap((path) => looks.map((look) => ({ path, ...look }))))(
    '$path, $colorScheme, $viewport.width wide',
    async ({ path, colorScheme, viewport }) => {
      const page = await browser.newPage({ colorScheme, viewport });
      try {
        await page.goto(base + path);
        // What is folded away is not looked at.
        await page.evaluate(
          'document.querySelectorAll("details").forEach((one) => { one.open = true; })',
        );
        await page.evaluate(axe);
        const violations = (await page.evaluate(
          'axe.run().then(({ violations }) => violations)',
        )) as readonly Violation[]; // axe.run's own documented shape
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          viewport.width,
        );
      } finally {
        await page.close();
      }
    },
  );
});
