/** A real browser shows the public site under our own content security policy. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserUnavailable, startBrowser } from '../../../fixtures/browser.ts';
import { needs } from '../../../fixtures/needs.ts';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { REPORT, reportWith } from './full-report.ts';

const HOSTILE_TEXT = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

describe('the public site', needs(browserUnavailable()), () => {
  let browser: Browser;
  let service: TestApp;
  let base: string;

  beforeAll(async () => {
    service = await startApp();
    await service.publish('shop.example.com', { grade: 'B', score: 85 });
    await service.publish('hostile.example.com', {
      branding: {
        displayName: HOSTILE_TEXT,
        description: HOSTILE_TEXT,
        iconUrl: 'https://evil.example/i.png',
      },
    });
    const hostileFailure = { status: 'fail', outcome: 'absent', evidence: HOSTILE_TEXT } as const;
    const [resource] = REPORT.report?.payability ?? [];
    const offers = (resource?.offers ?? []).map((offer) => ({
      ...offer,
      ...{ words: HOSTILE_TEXT, asset: HOSTILE_TEXT, network: HOSTILE_TEXT, scheme: HOSTILE_TEXT },
    }));
    await service.publish(
      'evil.example.com',
      reportWith(
        {
          P3: hostileFailure,
          S1: hostileFailure,
          S5: hostileFailure,
          S7: hostileFailure,
          S8: { ...hostileFailure, status: 'pass' },
        },
        {
          ...REPORT.report,
          payability:
            resource === undefined ? [] : [{ ...resource, path: `/${HOSTILE_TEXT}`, offers }],
          otherWays: [
            { method: 'GET', path: `/${HOSTILE_TEXT}`, protocol: 'MPP', methods: [HOSTILE_TEXT] },
          ],
          advice: [{ id: 'testnet-only', evidence: HOSTILE_TEXT, fix: 'Use a main network.' }],
        },
      ),
    );
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  /** Opens a page. Fails if the browser logs a message, a script fails, or the page loads from another site. */
  async function visit(path: string, examine: (page: Page) => Promise<void>): Promise<void> {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(base)) complaints.push(`requested ${request.url()}`);
    });
    try {
      await page.goto(base + path);
      await examine(page);
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
    }
  }

  test("names other ways to pay, with the seller's text escaped", () =>
    visit('/o/evil.example.com', async (page) => {
      const section = page.locator('section', { hasText: 'Other ways to pay' });
      expect(await section.locator('li').textContent()).toMatch(/^GET \/.* over MPP: ./s);
      expect(await section.locator('img').count()).toBe(0);
      expect(await page.locator('section', { hasText: 'Other ways' }).count()).toBe(1);
    }));

  test('shows grade, score, three sub-scores, counts and time of a scanned origin', () =>
    visit('/o/shop.example.com', async (page) => {
      expect(await page.locator('.grade').textContent()).toBe('B');
      const text = await page.locator('main').textContent();
      expect(text).toContain('85 out of 100');
      for (const part of ['Protocol', 'Docs', 'Standing', 'pass', 'warn', 'fail']) {
        expect(text).toContain(part);
      }
      expect(await page.locator('time').first().getAttribute('datetime')).toMatch(/^2026-09-01T/);
      for (const path of ['/v1/status', '/v1/report', '/v1/scan']) expect(text).toContain(path);
    }));

  test('has a button that copies a request', () =>
    visit('/o/shop.example.com', async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const button = page.locator('.request button').first();
      await button.click();
      await page.getByText('Copied').waitFor();
      const copiedText = await page.evaluate('navigator.clipboard.readText()');
      expect(copiedText).toContain('/v1/status?url=https%3A%2F%2Fshop.example.com');
    }));

  test('says "not scanned yet" on the page of an unscanned origin', () =>
    visit('/o/never.example.com', async (page) => {
      expect(await page.locator('main').textContent()).toContain('not scanned yet');
    }));

  test('escapes the text of origins, and shows none of their images', () =>
    visit('/directory?q=hostile', async (page) => {
      expect(await page.locator('main').textContent()).toContain('<script>');
      expect(await page.title()).toBe('Directory of x402 sellers');
      expect(await page.content()).not.toContain('evil.example');
    }));

  test("escapes a hostile seller's text in every part of its report", () =>
    visit('/o/evil.example.com', async (page) => {
      const text = (await page.locator('main').textContent()) ?? '';
      expect(text.split('<script>').length).toBeGreaterThan(8);
      expect(await page.locator('main script, main img[src="x"]').count()).toBe(0);
      expect(await page.title()).toContain('evil.example.com');
    }));

  test('finds an origin by a part of its host, with the keyboard', () =>
    visit('/', async (page) => {
      await page.getByLabel('Find a host').fill('SHOP');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'shop.example.com' }).click();
      await page.locator('.headline .grade-B').waitFor();
    }));

  test('explains a check with the text of its README', () =>
    visit('/checks', async (page) => {
      await page.getByRole('link', { name: 'P6 Price integrity' }).click();
      await page.getByRole('heading', { name: 'Fix' }).waitFor();
      expect(await page.locator('main').textContent()).toContain('x-payment-info');
    }));

  test('says which requests the scanner sends, and that payments are not real', () =>
    visit('/about-scanner', async (page) => {
      expect(await page.locator('main').textContent()).toContain('Never a payment header');
      expect(await page.getByRole('status').textContent()).toContain('Mock payments');
    }));
});

describe('pages without a browser', () => {
  test('show no report and no grade of an opted-out host', async () => {
    await using service = await startApp();
    await service.publish('shop.example.com', { grade: 'A' });
    expect((await service.get('/badge/shop.example.com.svg')).body).toContain('A 95/100');
    await service.store.listing.set('shop.example.com', { listed: false });
    const page = await service.get('/o/shop.example.com');
    expect(page.statusCode).toBe(404);
    expect(page.body).not.toContain('95');
    expect((await service.get('/badge/shop.example.com.svg')).body).toContain('not scanned');
    expect((await service.get('/')).body).not.toContain('shop.example.com');
  });

  test('show no findings if the report is sold', async () => {
    await using service = await startApp({ revision: '0.1.0' });
    await service.publish('shop.example.com', { grade: 'A' });
    const { body } = await service.get('/o/shop.example.com');
    expect(body).toContain('paid over x402');
    expect(body).not.toContain('class="findings"');
  });

  test('answer an HTML page with status 404 for a bad host or check', async () => {
    await using service = await startApp();
    for (const path of ['/o/localhost', '/o/10.0.0.1', '/checks/Z9']) {
      const answer = await service.get(path);
      expect([path, answer.statusCode]).toEqual([path, 404]);
      expect(answer.headers['content-type']).toContain('text/html');
    }
  });
});
