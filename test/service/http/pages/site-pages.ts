/** Lists every page of the site, and starts a service that fills every part of them. */
import type { Page } from 'playwright-core';
import { toGrade } from '../../../../src/scanner/engine/score.ts';
import { toPreflight } from '../../../../src/scanner/preflight/result.ts';
import { DAY_MS, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { listOrigin, writeCensusWords } from '../../store/contract/census-words.ts';
import { REPORT, reportWith } from './full-report.ts';

const HOUR_MS = 3_600_000;
/** The census words of `shop.example.com`, one letter a day. The last letter is today's. */
export const DAYS = `${'p'.repeat(20)}n-d${'p'.repeat(7)}`;

export type SitePage = {
  readonly path: string;
  /** Brings the page into the state that the tests examine. */
  readonly prepare?: (page: Page) => Promise<void>;
};

const typeInForm = (text: string) => async (page: Page) => {
  await page.getByLabel('Host or URL').fill(text);
  await page.keyboard.press('Enter');
  await page.locator('#answer h2').waitFor();
};

const unfold = async (page: Page) => {
  for (const summary of await page.locator('summary').all()) await summary.click();
};

export const PAGES: Readonly<Record<string, SitePage>> = {
  home: { path: '/' },
  directory: { path: '/directory?sort=grade' },
  noMatch: { path: '/directory?grade=B&category=travel&q=nobody' },
  answer: { path: '/', prepare: typeInForm('new.example.com/weather') },
  problem: { path: '/', prepare: typeInForm('shop') },
  report: { path: '/o/shop.example.com' },
  patches: { path: '/o/shop.example.com?stack=fastapi', prepare: unfold },
  unscanned: { path: '/o/never.example.com' },
  checks: { path: '/checks' },
  check: { path: '/checks/P6' },
  statistics: { path: '/statistics?days=30' },
  about: { path: '/about-scanner' },
  attestation: { path: '/attestations/scan/v1' },
  aboutWatch: { path: '/about-watch' },
  aboutCensus: { path: '/about-census' },
  missing: { path: '/o/localhost' },
};

export type Site = AsyncDisposable & { readonly service: TestApp; readonly base: string };

const OFFER = {
  pointer: '/accepts/0',
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '5000000',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 60,
  price: '5 USDC',
  isTestnet: false,
  client: 'limited',
} as const;

/** The result of every preflight that the front page makes. */
const PREFLIGHT = toPreflight(
  [
    {
      code: 'settings_only',
      evidence:
        'only clients with extra settings can pay: the official client says "amount is over the spend limit"',
    },
  ],
  { x402Version: 2, resourceUrl: null, payableBy: 'settings', offers: [OFFER] },
);

/** Settings of a census. It needs SCAN_ALLOW_HOSTS because SITE_URL is not a public name. */
export const CENSUS_ON = {
  CENSUS: 'bazaar',
  CONTACT_EMAIL: 'census@scanner.example',
  SCAN_ALLOW_HOSTS: '127.0.0.1:9',
};

export async function startSite(): Promise<Site> {
  const service = await startApp({
    environment: { RATE_LIMIT: 'off', ...CENSUS_ON },
    askSeller: async () => PREFLIGHT,
  });
  await publishCrowd(service);
  const older = { checksVersion: '2026-07-25.1' };
  for (const [day, score] of [78, 82, 97].entries()) {
    const grade = toGrade(score);
    await service.publish('shop.example.com', { grade, score, report: day < 2 ? older : {} });
    service.advance(DAY_MS);
  }
  for (const changes of [
    { S7: { status: 'warn' } },
    { S7: { status: 'warn' }, P6: { status: 'fail' } },
  ] as const) {
    await service.publish('shop.example.com', reportWith(changes));
    service.advance(3 * HOUR_MS);
  }
  await service.publish('shop.example.com', REPORT);
  await listOrigin(service.store, 'shop.example.com');
  await writeCensusWords(service.store, 'shop.example.com', DAYS);
  // The purge adds up the statistics of the days that have ended.
  await service.store.purge(service.now());
  const base = await service.app.listen({ host: '127.0.0.1', port: 0 });
  return { service, base, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/** Publishes enough sellers of each kind for counts that are rounded down to be above 0. */
async function publishCrowd(service: TestApp): Promise<void> {
  const kinds = [
    [12, {}],
    [9, { S7: { status: 'warn' }, S8: { status: 'fail' } }],
    [7, { P4: { status: 'fail' }, S1: { status: 'fail' } }],
    [6, { P3: { status: 'fail' }, S5: { status: 'fail' } }],
    [3, { P1: { status: 'fail' } }],
  ] as const;
  for (const [kind, [count, changes]] of kinds.entries()) {
    for (let at = 0; at < count; at += 1) {
      const scan = reportWith(changes, kind === 0 ? REPORT.report : { payableBy: 'nobody' });
      await service.publish(`api.seller${kind}${at}.com`, scan);
      service.advance(1_000);
    }
  }
}
