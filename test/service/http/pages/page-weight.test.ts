/** Every page weighs under 60 KiB and loads only images, even with the longest texts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADVICE_IDS } from '../../../../src/scanner/model/report.ts';
import { readCatalog } from '../../../fixtures/service/test-catalog.ts';
import type { CannedScan } from '../../../scanner/scan/fake-scanner.ts';
import { listOrigin, writeCensusWords } from '../../store/contract/census-words.ts';
import { REPORT, reportWith } from './full-report.ts';
import { PAGES, type Site, startSite } from './site-pages.ts';

const MAX_BYTES = 60 * 1_024;
const LONG_TEXT = '<"&\''.repeat(125);

const LONGEST_HOST = `${'heavy123.'.repeat(26)}example.com`;

/** Returns a report whose texts all have their maximum length. */
function toLongestReport(): CannedScan {
  const checks = readCatalog('2026-08-14.2').checks;
  const failed = {
    status: 'fail',
    outcome: 'absent',
    evidence: LONG_TEXT,
    fix: 'Do it. '.repeat(25),
  } as const;
  const [resource] = REPORT.report?.payability ?? [];
  const [route] = REPORT.report?.routes?.paid ?? [];
  if (resource === undefined || route === undefined) throw new Error('the report sells nothing');
  const longPaths = Array.from({ length: 50 }, (_, at) => `/${at}/${'x'.repeat(200)}`);
  return reportWith(Object.fromEntries(checks.map(({ id }) => [id, failed])), {
    ...REPORT.report,
    routes: {
      paid: longPaths.map((path) => ({ ...route, path, template: path })),
      ...{ signIn: [], free: [], isComplete: false },
    },
    payability: longPaths.map((path) => ({
      ...resource,
      path,
      offers: resource.offers.map((offer) => ({ ...offer, words: LONG_TEXT.slice(0, 200) })),
    })),
    indexed: longPaths.map((resource) => ({
      ...{ index: 'bazaar', resource, method: 'GET', state: 'not_listed', listedAs: LONG_TEXT },
      differences: [],
      reasons: [{ code: 'not_registered', evidence: LONG_TEXT, check: 'S5' }],
    })),
    otherWays: longPaths.map((path) => ({
      ...{ method: 'GET', path, protocol: 'MPP' },
      methods: Array.from({ length: 5 }, (_, at) => `${at}${'<'.repeat(39)}`),
    })),
    advice: ADVICE_IDS.map((id) => ({ id, evidence: LONG_TEXT, fix: 'Do what the advice says.' })),
  });
}

describe('a page', () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite();
    for (let scan = 0; scan < 45; scan += 1) {
      await site.service.publish(LONGEST_HOST, toLongestReport());
    }
    await listOrigin(site.service.store, LONGEST_HOST);
    await writeCensusWords(site.service.store, LONGEST_HOST, 'nd'.repeat(15));
  });
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
  });

  const stacks = ['express', 'hono', 'next', 'fastapi', 'flask', 'go', 'nginx'];
  const checks = readCatalog('2026-08-14.2').checks.map(({ id }) => `/checks/${id}`);
  const paths = [
    ...Object.values(PAGES).map(({ path }) => path),
    ...[LONGEST_HOST, 'shop.example.com'].flatMap((host) =>
      stacks.map((stack) => `/o/${host}?stack=${stack}`),
    ),
    ...checks,
  ];

  test('the front page weighs under 60 KiB with the longest names', async () => {
    const crowdedSite = await startSite();
    try {
      for (let n = 0; n < 30; n += 1) {
        const host = `${'a123456.'.repeat(29)}s${n}.com`;
        await crowdedSite.service.publish(host, {
          branding: { displayName: LONG_TEXT.slice(0, 80) },
        });
        await listOrigin(crowdedSite.service.store, host);
        await writeCensusWords(crowdedSite.service.store, host, 'pd'.repeat(15));
      }
      for (const path of ['/', '/?q=a123456']) {
        const { body } = await crowdedSite.service.get(path);
        expect(Buffer.byteLength(body)).toBeLessThan(MAX_BYTES);
      }
    } finally {
      await crowdedSite[Symbol.asyncDispose]();
    }
  });

  test('the page of the check with the longest rule leaves a tenth free', async () => {
    const { body } = await site.service.get('/checks/P2');
    expect(Buffer.byteLength(body)).toBeLessThan(0.9 * MAX_BYTES);
  });

  test.each([...new Set(paths)])(
    '%s weighs under 60 KiB with its styles and script',
    async (path) => {
      const { body } = await site.service.get(path);
      expect(Buffer.byteLength(body)).toBeLessThan(MAX_BYTES);
      const otherLoads = body.match(
        /<(?:script|iframe|object|embed|audio|video)[^>]*\ssrc=|rel="stylesheet"|@import|url\(/g,
      );
      expect(otherLoads).toBeNull();
      expect((body.match(/<img /g) ?? []).length).toBeLessThanOrEqual(1);
    },
  );
});
