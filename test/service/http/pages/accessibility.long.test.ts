/** axe-core finds no accessibility violation on any page, and no page scrolls sideways. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserUnavailable, startBrowser } from '../../../fixtures/browser.ts';
import { needs } from '../../../fixtures/needs.ts';
import { PAGES, type Site, startSite } from './site-pages.ts';

const WIDE_VIEWPORT = { width: 1600, height: 900 };
const NARROW_VIEWPORT = { width: 320, height: 740 };

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

describe('the public site', needs(browserUnavailable()), () => {
  let browser: Browser;
  let site: Site;
  let axeScript: string;

  beforeAll(async () => {
    axeScript = await readFile(
      createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
      'utf8',
    );
    site = await startSite();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });

  const displays = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [WIDE_VIEWPORT, NARROW_VIEWPORT].map((viewport) => ({ colorScheme, viewport })),
  );

  test.each(
    Object.entries(PAGES).flatMap(([name, page]) =>
      displays.map((display) => ({ name, page, ...display })),
    ),
  )(
    'has no accessibility violation on the page $name in $colorScheme mode, $viewport.width px wide',
    async ({ page: { path, prepare }, colorScheme, viewport }) => {
      const tab = await browser.newPage({ colorScheme, viewport });
      try {
        await tab.goto(site.base + path);
        await prepare?.(tab);
        // axe-core skips the content of closed <details> elements.
        await tab.evaluate(
          'document.querySelectorAll("details").forEach((details) => { details.open = true; })',
        );
        await tab.evaluate(axeScript);
        const violations = (await tab.evaluate(
          'axe.run().then(({ violations }) => violations)',
        )) as readonly Violation[]; // axe-core documents this shape.
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
        expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          viewport.width,
        );
      } finally {
        await tab.close();
      }
    },
  );
});
