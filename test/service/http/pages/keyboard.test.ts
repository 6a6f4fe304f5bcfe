/** A user can go from the front page to a patch and a check with only a keyboard, with and without scripts. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserUnavailable, startBrowser } from '../../../fixtures/browser.ts';
import { needs } from '../../../fixtures/needs.ts';
import { type Site, startSite } from './site-pages.ts';

const MAX_TAB_PRESSES = 120;
const FOCUSED_TEXT =
  '(document.activeElement?.labels?.[0] ?? document.activeElement)?.innerText ?? ""';

describe('with the keyboard only', needs(browserUnavailable()), () => {
  let browser: Browser;
  let site: Site;

  beforeAll(async () => {
    site = await startSite();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });

  /** Presses Tab until the focused element has this text. */
  async function tabTo(page: Page, text: string): Promise<void> {
    for (let tabs = 0; tabs < MAX_TAB_PRESSES; tabs += 1) {
      await page.keyboard.press('Tab');
      if (String(await page.evaluate(FOCUSED_TEXT)).includes(text)) return;
    }
    throw new Error(`Tab never came to ${text}`);
  }

  test.each([true, false])(
    'a user gets from the front page to an answer, a report, a patch and a check (scripts: %s)',
    async (scripts) => {
      const context = await browser.newContext({ javaScriptEnabled: scripts });
      const page = await context.newPage();
      const requests: string[] = [];
      page.on('request', (request) => {
        if (!request.url().endsWith('.svg')) requests.push(request.url());
      });
      await page.goto(site.base);
      await tabTo(page, 'Host or URL');
      await page.keyboard.type(`${scripts ? 'new' : 'other'}.example.com/weather`);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /^Caution/ }).waitFor();
      expect(await page.locator('#answer').textContent()).toContain('5 USDC on Base');
      // Besides pictures, the browser requested only the page and the answer.
      expect(requests).toHaveLength(2);

      await tabTo(page, 'x402 Conformance Scanner');
      await tabTo(page, 'Host or URL');
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type('shop.example.com');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Fix these first' }).waitFor();
      await tabTo(page, 'Patch for Express');
      await page.keyboard.press('Enter');
      await page.locator('details.patch[open] pre').first().waitFor();

      await tabTo(page, 'payment-required-header');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'PAYMENT-REQUIRED header' }).waitFor();
      await tabTo(page, 'Express');
      await page.keyboard.press('ArrowRight');
      await page.getByRole('region', { name: /^Hono/ }).first().waitFor();
      await context.close();
    },
  );
});
