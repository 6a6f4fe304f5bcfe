/** The answers of revision 0.3.0 show the results of the census, and the answers of 0.1.0 do not. */
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { DAY_WORDS } from '../../../../src/scanner/model/payability.ts';
import { exportDirectory } from '../../../../src/service/directory/export.ts';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import { DAY_MS, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { listOrigin, writeCensusWords } from '../../store/contract/census-words.ts';
import { publishedScan } from '../../store/contract/samples.ts';
import { PRICES, startSelling } from './paid/selling.ts';

const HOST = 'shop.example.com';
const WITHOUT_LIMIT = { environment: { RATE_LIMIT: 'off' } };

/** Publishes a host and its census words, one letter a day. The last letter is today's. */
async function publishWith({ store, publish }: TestApp, host: string, letters: string) {
  await publish(host, { grade: 'A', score: 95 });
  await listOrigin(store, host);
  await writeCensusWords(store, host, letters);
}

/** Finishes and publishes a scan of the census. */
async function publishByCensus({ store, scanner, scanCoordinator, config }: TestApp, host: string) {
  const { parseOrigin } = await import('../../../../src/scanner/guard/origin.ts');
  scanner.will(host, {});
  const { scanId, report } = await scanCoordinator.run(parseOrigin(host, config.originPolicy));
  const scannedAtMs = Date.parse(report.scannedAt);
  await store.publish(publishedScan({ scanId, host, scannedAtMs, paidBy: 'census' }));
}

describe('availability', () => {
  test('is in every record of /v1/directory, /v1/featured, /v1/project and the export', async () => {
    await using service = await startApp(WITHOUT_LIMIT);
    await publishWith(service, HOST, 'pppnd-p');
    const availability = {
      today: 'payable',
      payableDays: 4,
      checkedDays: 6,
      days: 'pppnd-p'.padStart(30, '-'),
    };
    const { projects } = (await service.get('/v1/directory')).json();
    expect(projects).toMatchObject([{ host: HOST, availability }]);
    const featured = (await service.get('/v1/featured')).json();
    expect(featured.projects).toEqual(projects);
    const project = (await service.get(`/v1/project?host=${HOST}`)).json();
    expect(project).toMatchObject(projects[0]);
    const { body } = await exportDirectory(service.store, service.config.siteUrl);
    expect(JSON.parse(await text(body)).projects).toMatchObject(projects);
    service.advance(2 * DAY_MS);
    const later = (await service.get(`/v1/project?host=${HOST}`)).json();
    const laterAvailability = { ...availability, today: null, days: 'pppnd-p--'.padStart(30, '-') };
    expect(later.availability).toEqual(laterAvailability);
  });

  test('is null if the census never checked the host', async () => {
    await using service = await startApp();
    await service.publish(HOST);
    const { availability } = (await service.get(`/v1/project?host=${HOST}`)).json();
    expect(availability).toBeNull();
  });

  test('is in the paid export', async () => {
    await using shop = await startSelling();
    await publishWith(shop.app, HOST, 'n');
    const payment = await shop.header(PRICES['0.3.0'].export);
    const answer = await shop.app.get('/v1/directory/export', payment);
    expect(answer.json().projects).toMatchObject([{ availability: { today: 'not_payable' } }]);
  });
});

describe('the filter payable', () => {
  const fetchHosts = async ({ get }: TestApp, query: string) => {
    const { count, projects } = (await get(`/v1/directory?${query}`)).json();
    return { count, hosts: projects.map(({ host }: { host: string }) => host) };
  };

  test('lists the hosts that were payable today, or on most checked days of the last week', async () => {
    await using service = await startApp(WITHOUT_LIMIT);
    const lettersOfHosts = ['ppp', 'ppppppp', 'pppnnnp', 'nnnnnnn', 'p', 'ppppppn'];
    for (const [n, letters] of lettersOfHosts.entries()) {
      await publishWith(service, `h${n}.example.com`, letters);
      service.advance(1_000);
    }
    expect(await fetchHosts(service, 'payable=today')).toEqual({
      count: 4,
      hosts: ['h4.example.com', 'h2.example.com', 'h1.example.com', 'h0.example.com'],
    });
    expect(await fetchHosts(service, 'payable=week&pageSize=2')).toEqual({
      count: 3,
      hosts: ['h5.example.com', 'h1.example.com'],
    });
    expect(await fetchHosts(service, 'payable=week&pageSize=2&page=1')).toEqual({
      count: 3,
      hosts: ['h0.example.com'],
    });
    await service.store.listing.set('h0.example.com', { listed: false });
    expect((await fetchHosts(service, 'payable=week')).count).toBe(2);
  });

  test.each(['', 'now', 'TODAY', 'true', 'month', '1'])(
    'payable=%s is refused, and the message names the two allowed values',
    async (value) => {
      await using service = await startApp();
      const answer = await service.get(`/v1/directory?payable=${value}`);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', charged: false });
      expect(answer.json().message).toMatch(/"payable".*"today".*"week"/s);
    },
  );

  test('a query that repeats the parameter is refused', async () => {
    await using service = await startApp();
    const answer = await service.get('/v1/directory?payable=today&payable=week');
    expect(answer.statusCode).toBe(400);
  });
});

describe('paidBy', () => {
  test('is "payer" in a paid answer and in the report that the paid scan publishes', async () => {
    await using shop = await startSelling();
    const paid = await shop.scan(HOST, await shop.header(PRICES['0.3.0'].scan));
    expect(paid.json()).toMatchObject({ charged: true, paidBy: 'payer' });
    const fetchReport = async () => (await shop.app.get(`/v1/report?url=${HOST}`)).json();
    await expect.poll(fetchReport).toMatchObject({ cache: 'hit', paidBy: 'payer' });
  });

  test('is "census" in the report of a scan by the census, until somebody pays for a scan', async () => {
    await using service = await startApp(WITHOUT_LIMIT);
    await publishByCensus(service, HOST);
    const fetchReport = async () => (await service.get(`/v1/report?url=${HOST}`)).json();
    expect(await fetchReport()).toMatchObject({ cache: 'hit', paidBy: 'census' });
    expect((await service.get(`/o/${HOST}`)).body).toContain('census of this service</a>');
    const envelope = (await service.get(`/v1/attestation?url=${HOST}`)).json();
    const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
    expect(statement.predicate.report).toEqual(await fetchReport());
    service.advance(1_000);
    await service.publish(HOST);
    expect(await fetchReport()).toMatchObject({ paidBy: 'payer' });
    expect((await service.get(`/o/${HOST}`)).body).not.toContain('census of this service</a>');
  });
});

test('/v1/statistics counts the census words of yesterday, each rounded down to a multiple of five', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  const fetchCounts = async () => (await service.get('/v1/statistics')).json().availability;
  const zeroCounts = { payable: 0, notPayable: 0, down: 0, notChecked: 0 };
  expect(await fetchCounts()).toEqual(zeroCounts);
  for (let n = 0; n < 22; n += 1) {
    const host = `h${n}.example.com`;
    await listOrigin(service.store, host);
    const word = DAY_WORDS[Math.floor(n / 6)] ?? 'down';
    await service.store.census.insertWord(host, utcDay(service.now()), word);
  }
  await service.store.purge(service.now());
  expect(await fetchCounts()).toEqual(zeroCounts);
  service.advance(DAY_MS);
  await service.store.purge(service.now());
  expect(await fetchCounts()).toEqual({ payable: 5, notPayable: 5, down: 5, notChecked: 0 });
  expect((await service.get('/statistics')).body).toContain(
    'Payable 5, 33 %; Not payable 5, 33 %; Down 5, 33 %',
  );
});

test('the documents of 0.3.0 name availability, the filter and the census', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  for (const path of ['/llms.txt', '/llms-full.txt', '/discovery', '/openapi.json']) {
    const { body } = await service.get(path);
    expect([path, body.includes('availability'), body.includes('payable=today')]).toEqual([
      path,
      true,
      true,
    ]);
  }
  const terms = await service.get('/terms.txt');
  expect(terms.body).toContain('once a payer has settled or the census has scanned');
  expect(terms.body).toContain('may send each origin, once a day, the requests');
});

test('0.1.0 has no availability, no filter and no census page', async () => {
  await using service = await startApp({ revision: '0.1.0', ...WITHOUT_LIMIT });
  await publishWith(service, HOST, 'nnn');
  await publishByCensus(service, 'census.example.com');
  const answer = await service.get('/v1/directory');
  expect(answer.json().count).toBe(2);
  expect(answer.body).not.toContain('availability');
  // Revision 0.1.0 does not know the parameter `payable`, and it ignores unknown parameters.
  for (const value of ['today', 'week', 'now']) {
    expect((await service.get(`/v1/directory?payable=${value}`)).body).toBe(answer.body);
  }
  expect((await service.get(`/v1/project?host=${HOST}`)).body).not.toContain('availability');
  expect((await service.get('/openapi.json')).body).not.toMatch(/availability|paidBy|census/);
  expect((await service.get('/terms.txt')).body).not.toContain('census');
  expect((await service.get('/about-census')).statusCode).toBe(404);
  expect((await service.get('/about-scanner')).body).not.toContain('census');
  const badge = await service.get(`/badge/${HOST}.svg`);
  expect((await service.get(`/badge/${HOST}.svg?show=days`)).body).toBe(badge.body);
  expect((await service.get(`/o/${HOST}`)).body).not.toMatch(/payable on|census/i);
});
