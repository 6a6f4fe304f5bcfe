/** Pages and badges show what the census found. */
import { describe, expect, test } from 'vitest';
import { describeDays, drawDayStrip } from '../../../../src/service/http/pages/day-strip.ts';
import { DAY_MS, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { listOrigin, writeCensusWords } from '../../store/contract/census-words.ts';
import { CENSUS_ON } from './site-pages.ts';

const HOST = 'shop.example.com';

/** Publishes the host with its census words, one letter a day. The last letter is today's. */
async function publishWith({ store, publish }: TestApp, letters: string): Promise<void> {
  await publish(HOST);
  await listOrigin(store, HOST);
  await writeCensusWords(store, HOST, letters);
}

describe('the picture with a square for each of 30 days', () => {
  const NOW_MS = Date.UTC(2026, 8, 30, 12);
  const days = `${'p'.repeat(19)}nd${'p'.repeat(8)}-`;
  const svg = String(drawDayStrip(days, NOW_MS));

  test('has a mark in each square, and can be read without colours', () => {
    const marks = [...svg.matchAll(/class="mark-\w+">([^<]+)/g)].map(([, text]) => text);
    expect(marks.join('')).toHaveLength(30);
    expect(marks).toEqual(['✓'.repeat(27), '✗', '!', '·']);
    expect(svg.match(/h22v22h-22z/g)).toHaveLength(30);
  });

  test('has the squares in the order of the days, in two rows', () => {
    const [firstSquare, lastSquare] = [
      /<path d="M50 0h/,
      /<path d="M386 24h22v22h-22z" class="cell-unknown"/,
    ];
    expect(svg).toMatch(firstSquare);
    expect(svg).toMatch(lastSquare);
    expect(svg).toContain('>09-01</text>');
    expect(svg).toContain('>09-16</text>');
  });

  test('has a label for screen readers, with the dates or the number of bad days', () => {
    expect(svg).toContain(
      'aria-label="Payable on 27 of 29 days that were checked; not payable on 2026-09-20; down on 2026-09-21; not checked on 1."',
    );
    const allPayable = String(drawDayStrip('p'.repeat(30), NOW_MS));
    expect(allPayable).toContain('"Payable on 30 of 30 days that were checked; not checked on 0."');
    const noPayable = String(drawDayStrip('nd'.repeat(15), NOW_MS));
    expect(noPayable).toContain('; not payable on 15 days; down on 15 days; not checked on 0."');
    const unchecked = String(drawDayStrip('-'.repeat(30), NOW_MS));
    expect(unchecked).toContain('"Payable on 0 of 0 days that were checked; not checked on 30."');
  });

  test.each([
    [{ today: 'payable', payableDays: 29, checkedDays: 30 }, 'Payable on 29 of 30 days that were'],
    [{ today: 'not_payable', payableDays: 0, checkedDays: 1 }, 'Payable on 0 of 1 day that was'],
    [{ today: 'not_checked', payableDays: 0, checkedDays: 0 }, 'Not checked yet.'],
  ] as const)('has a sentence below it for %j', (availability, sentence) => {
    expect(describeDays({ ...availability, days: '' })).toContain(sentence);
  });
});

describe('the report page', () => {
  test('has the squares of 30 days only if the census checked the host', async () => {
    await using service = await startApp();
    await service.publish(HOST);
    const fetchPage = async () => (await service.get(`/o/${HOST}`)).body;
    expect(await fetchPage()).not.toContain('Day by day');
    await listOrigin(service.store, HOST);
    await writeCensusWords(service.store, HOST, 'ppnp');
    expect(await fetchPage()).toContain(
      'Payable on 3 of 4 days that were checked. Today: payable.',
    );
    expect(await fetchPage()).toContain('not payable on 2026-08-31');
    service.advance(2 * DAY_MS);
    expect(await fetchPage()).toContain('Today: no result in 36 hours.');
  });
});

describe('the badge', () => {
  test('with show=days, says on how many of the checked days the host was payable', async () => {
    await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
    const fetchBadge = async (query = '?show=days') =>
      (await service.get(`/badge/${HOST}.svg${query}`)).body;
    expect(await fetchBadge()).toContain('x402: not checked yet');
    await service.publish(HOST, { grade: 'A', score: 95 });
    expect(await fetchBadge()).toContain('x402: not checked yet');
    await listOrigin(service.store, HOST);
    await writeCensusWords(service.store, HOST, 'p');
    expect(await fetchBadge()).toContain('x402: payable 1 of 1 day<');
    await writeCensusWords(service.store, HOST, `${'p'.repeat(20)}n${'p'.repeat(9)}`);
    expect(await fetchBadge()).toContain('x402: payable 29 of 30 days');
    expect(await fetchBadge('')).toContain('x402: A 95/100');
    await service.store.listing.set(HOST, { listed: false });
    expect(await fetchBadge()).toContain('x402: not checked yet');
  });

  test.each(['', 'grade', 'day', 'DAYS', 'days,'])('refuses show=%s', async (value) => {
    await using service = await startApp();
    const answer = await service.get(`/badge/${HOST}.svg?show=${value}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter' });
    expect(answer.json().message).toContain('"days"');
  });
});

describe('the front page', () => {
  test('says on how many days a host was payable, if the census checked the host', async () => {
    await using service = await startApp();
    await publishWith(service, '-');
    expect((await service.get('/')).body).not.toContain('>payable');
    await writeCensusWords(service.store, HOST, 'ppd');
    expect((await service.get('/')).body).toContain('<span class="tag">payable 2 of 3 days</span>');
  });
});

describe('/statistics', () => {
  test('counts the census words of yesterday', async () => {
    await using service = await startApp();
    expect((await service.get('/statistics')).body).not.toContain('Payable on the last full day');
    for (let n = 0; n < 11; n += 1) {
      await listOrigin(service.store, `h${n}.example.com`);
      await writeCensusWords(service.store, `h${n}.example.com`, n < 6 ? 'p' : 'd');
    }
    service.advance(DAY_MS);
    await service.store.purge(service.now());
    expect((await service.get('/statistics')).body).toContain(
      'aria-label="Payable on the last full day: Payable 5, 50 %; Not payable 0, 0 %; Down 5, 50 %; Not checked 0, 0 %"',
    );
  });
});

describe('/about-census', () => {
  test('says that a service without a census sends no requests of its own', async () => {
    await using service = await startApp();
    const page = await service.get('/about-census');
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain(
      'This service runs no census. It requests an origin only if somebody asks for it.',
    );
    expect((await service.get('/about-scanner')).body).toContain('href="/about-census"');
  });

  test('says who sends which requests how often, and how to opt out, if there is a census', async () => {
    await using service = await startApp({ environment: CENSUS_ON });
    const { body } = await service.get('/about-census');
    for (const text of [
      'x402-conformance-scanner/',
      '(+https://scanner.example/about-census)',
      'href="mailto:census@scanner.example"',
      'User-agent: x402-conformance-scanner\nDisallow: /',
      'Once a UTC day',
      'Once a week',
      'POST /v1/listing',
    ]) {
      expect(body).toContain(text);
    }
    expect(body).not.toContain('runs no census');
  });
});

test('the page of an opted-out host shows no days', async () => {
  await using service = await startApp();
  await publishWith(service, 'ppp');
  await service.store.listing.set(HOST, { listed: false });
  const { statusCode, body } = await service.get(`/o/${HOST}`);
  expect([statusCode, body.includes('Payable on')]).toEqual([404, false]);
});
