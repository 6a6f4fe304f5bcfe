/** GET /v1/directory, /v1/featured and /v1/project answer the records of scanned hosts. */
import { describe, expect, test } from 'vitest';
import { DAY_MS, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { issuedToken } from '../../store/contract/samples.ts';

const listHosts = (answer: { json(): { projects: { host: string }[] } }) =>
  answer.json().projects.map(({ host }) => host);

/** Publishes five hosts, one second apart, in the order of the list. */
async function publishFive(service: TestApp): Promise<void> {
  const scans = [
    ['alpha.example.com', 'A', 92, 'data'],
    ['beta.example.com', 'B', 85, 'search'],
    ['gamma.example.com', 'F', 12, 'data'],
    ['delta.example.net', 'A', 98, 'media'],
    ['epsilon.example.net', 'C', 70, 'data'],
  ] as const;
  for (const [host, grade, score, category] of scans) {
    await service.publish(host, { grade, score, branding: { category } });
    service.advance(1_000);
  }
}

describe.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 2.3 and 4.1, /v1/directory, %s',
  (revision) => {
    test('a record has every field, and the list has a disclaimer and a provenance', async () => {
      await using service = await startApp({ revision });
      const lastScannedAt = new Date(service.now()).toISOString();
      await service.publish('shop.example.com', { grade: 'A', score: 95 });
      const answer = await service.get('/v1/directory');
      expect(answer.statusCode).toBe(200);
      const { disclaimer, provenance, ...list } = answer.json();
      expect(list).toEqual({
        count: 1,
        page: 0,
        pageSize: 50,
        projects: [
          {
            host: 'shop.example.com',
            displayName: 'Shop of shop.example.com',
            description: 'Sells weather.',
            category: 'data',
            iconUrl: 'https://shop.example.com/icon.png',
            ogImageUrl: null,
            grade: 'A',
            score: 95,
            verified: false,
            featured: true,
            lastScannedAt,
            signals: {
              registeredIndex: true,
              hasRecentSettlement: null,
              indexOwnershipVerified: false,
              onEcosystemListing: false,
            },
            ...(revision === '0.3.0'
              ? { payableBy: null, priceFrom: null, availability: null }
              : {}),
            reportUrl: 'https://scanner.example/o/shop.example.com',
          },
        ],
      });
      expect(disclaimer).toMatch(/not an endorsement/);
      expect(provenance).toMatch(/never as instructions/);
    });

    test('a list is sorted by recency or grade, filtered by category and part of the host, and paged', async () => {
      await using service = await startApp({ revision });
      await publishFive(service);
      const byRecency = [
        'epsilon.example.net',
        'delta.example.net',
        'gamma.example.com',
        'beta.example.com',
        'alpha.example.com',
      ];
      expect(listHosts(await service.get('/v1/directory'))).toEqual(byRecency);
      expect(listHosts(await service.get('/v1/directory?sort=recent'))).toEqual(byRecency);
      expect(listHosts(await service.get('/v1/directory?sort=grade'))).toEqual([
        'delta.example.net',
        'alpha.example.com',
        'beta.example.com',
        'epsilon.example.net',
        'gamma.example.com',
      ]);
      expect(listHosts(await service.get('/v1/directory?category=data'))).toEqual([
        'epsilon.example.net',
        'gamma.example.com',
        'alpha.example.com',
      ]);
      expect(listHosts(await service.get('/v1/directory?q=EXAMPLE.NET'))).toEqual(
        byRecency.slice(0, 2),
      );
      // A search is literal: `%` and `.*` do not act as wildcards.
      expect(listHosts(await service.get('/v1/directory?q=%25'))).toEqual([]);
      expect(listHosts(await service.get('/v1/directory?q=.*'))).toEqual([]);

      const page = (await service.get('/v1/directory?page=1&pageSize=2')).json();
      expect(page).toMatchObject({ count: 5, page: 1, pageSize: 2 });
      expect(page.projects.map(({ host }: { host: string }) => host)).toEqual(
        byRecency.slice(2, 4),
      );
      expect((await service.get('/v1/directory?page=9')).json()).toMatchObject({
        count: 5,
        projects: [],
      });
    });

    test('verified=true leaves out hosts whose owners did not prove control', async () => {
      await using service = await startApp({ revision });
      await publishFive(service);
      await service.store.ownership.recordConfirm('beta.example.com', issuedToken('x'));
      expect(listHosts(await service.get('/v1/directory?verified=true'))).toEqual([
        'beta.example.com',
      ]);
      expect((await service.get('/v1/directory?verified=false')).json().count).toBe(5);
    });
  },
);

test.each([
  ['sort=best', 'sort'],
  ['category=weather', 'category'],
  ['verified=yes', 'verified'],
  ['page=-1', 'page'],
  ['page=1.5', 'page'],
  ['page=', 'page'],
  ['page=01', 'page'],
  ['page=1e1', 'page'],
  ['sort=', 'sort'],
  ['verified=TRUE', 'verified'],
  ['pageSize=1e1', 'pageSize'],
  ['pageSize=-1', 'pageSize'],
  ['pageSize=', 'pageSize'],
  ['pageSize=0', 'pageSize'],
  ['pageSize=101', 'pageSize'],
  ['pageSize=0x10', 'pageSize'],
  [`q=${'a'.repeat(254)}`, 'q'],
])(
  'interface spec 4.1 and 8: /v1/directory?%s is 400 and names the parameter',
  async (query, name) => {
    await using service = await startApp();
    const answer = await service.get(`/v1/directory?${query}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', charged: false });
    expect(answer.json().message).toContain(`"${name}"`);
  },
);

test('interface spec 8: a page may have 100 items, and q 253 characters', async () => {
  await using service = await startApp();
  expect((await service.get('/v1/directory?pageSize=100')).json().pageSize).toBe(100);
  expect((await service.get(`/v1/directory?q=${'a'.repeat(253)}`)).statusCode).toBe(200);
  const farPage = await service.get('/v1/directory?page=999999999999&pageSize=100');
  expect(farPage.json()).toMatchObject({ page: 999_999_999_999, projects: [] });
});

describe.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 3 and 4.1, /v1/featured, %s',
  (revision) => {
    test('a host is featured for 30 days after a scan with grade A, newest first', async () => {
      await using service = await startApp({ revision });
      await publishFive(service);
      const answer = await service.get('/v1/featured');
      expect(listHosts(answer)).toEqual(['delta.example.net', 'alpha.example.com']);
      expect(Object.keys(answer.json()).sort()).toEqual([
        'count',
        'disclaimer',
        'projects',
        'provenance',
      ]);
      expect(answer.json().count).toBe(2);

      // Alpha was scanned five seconds ago, and delta two seconds ago.
      service.advance(30 * DAY_MS - 5_000);
      expect(listHosts(await service.get('/v1/featured'))).toEqual(['delta.example.net']);
      expect((await service.get('/v1/project?host=alpha.example.com')).json().featured).toBe(false);
      expect((await service.get('/v1/project?host=delta.example.net')).json().featured).toBe(true);
      service.advance(3_000);
      expect((await service.get('/v1/featured')).json()).toMatchObject({ count: 0, projects: [] });
    });

    test('a worse grade ends the featuring, and a new grade A features the host again', async () => {
      await using service = await startApp({ revision });
      await service.publish('shop.example.com', { grade: 'A', score: 95 });
      service.advance(1_000);
      await service.publish('shop.example.com', { grade: 'B', score: 85 });
      expect(listHosts(await service.get('/v1/featured'))).toEqual([]);
      service.advance(1_000);
      await service.publish('shop.example.com', { grade: 'A', score: 95 });
      expect(listHosts(await service.get('/v1/featured'))).toEqual(['shop.example.com']);
    });
  },
);

describe.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 4.1 and 7, /v1/project, %s',
  (revision) => {
    test('a host or a URL finds the record, with disclaimer and provenance', async () => {
      await using service = await startApp({ revision });
      await service.publish('shop.example.com', {
        signals: { hasRecentSettlement: true, onEcosystemListing: true },
      });
      const byHost = await service.get('/v1/project?host=shop.example.com');
      expect(byHost.statusCode).toBe(200);
      expect(byHost.json()).toMatchObject({
        host: 'shop.example.com',
        signals: { hasRecentSettlement: true, onEcosystemListing: true },
        disclaimer: expect.stringMatching(/conformance only/),
        provenance: expect.stringMatching(/unverified/),
      });
      const byUrl = await service.get('/v1/project?host=https://SHOP.example.com./weather');
      expect(byUrl.json()).toEqual(byHost.json());
    });

    // Names under reserved domains, for example .example and .invalid, are well-formed hosts.
    test.each([
      'nobody.example.com',
      'never-scanned.example',
      'https://nobody.test/x',
      'a.invalid',
    ])('an unknown host is 404, uncharged: %s', async (host) => {
      await using service = await startApp({ revision });
      const answer = await service.get(`/v1/project?host=${host}`);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ error: 'unknown_project', charged: false });
    });
  },
);
