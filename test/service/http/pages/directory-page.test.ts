/** The directory as a page: every filter is a link that keeps the others, and nothing needs a script. */
import { parseDocument } from 'htmlparser2';
import { expect, test } from 'vitest';
import { type Answer, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { listOrigin, writeCensusWords } from '../../store/contract/census-words.ts';
import { REPORT, reportWith } from './full-report.ts';
import { CENSUS_ON } from './site-pages.ts';

type Link = { readonly href: string; readonly text: string; readonly isCurrent: boolean };

/** Reads the links of a page, as a reader without a script has them. */
function listLinks({ body }: Answer): readonly Link[] {
  return [...body.matchAll(/<a ([^>]*)>([^<]*)<\/a>/g)].map(([, attributes = '', text = '']) => ({
    href: (/href="([^"]*)"/.exec(attributes)?.[1] ?? '').replaceAll('&amp;', '&'),
    text,
    isCurrent: attributes.includes('aria-current'),
  }));
}

function findLink(page: Answer, text: string): Link {
  const link = listLinks(page).find((one) => one.text === text);
  if (link === undefined) throw new Error(`the page has no link "${text}"`);
  return link;
}

const listHosts = (page: Answer) =>
  listLinks(page).flatMap(({ href, text }) => (href === `/o/${text}` ? [text] : []));

async function startDirectory(): Promise<TestApp> {
  const service = await startApp({ environment: { RATE_LIMIT: 'off', ...CENSUS_ON } });
  const grades = { 'a.example.com': 95, 'b.example.com': 85, 'shop.example.net': 96 } as const;
  for (const [host, score] of Object.entries(grades)) {
    const scan = reportWith({}, REPORT.report);
    await service.publish(host, { ...scan, grade: score > 90 ? 'A' : 'B', score });
    service.advance(60_000);
  }
  await service.publish('dead.example.org', { grade: 'F', score: 20, report: { payableBy: null } });
  return service;
}

test('each filter is a link that keeps the other filters, and the API lists the same hosts', async () => {
  await using service = await startDirectory();
  const all = await service.get('/directory');
  expect([all.statusCode, all.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(parseDocument(all.body).children.length).toBeGreaterThan(0);
  expect(all.body).toContain('<h2>4 origins</h2>');
  const byGrade = await service.get(findLink(all, 'Best grade').href);
  expect(listHosts(byGrade)).toEqual([
    'shop.example.net',
    'a.example.com',
    'b.example.com',
    'dead.example.org',
  ]);
  const onlyA = await service.get(findLink(byGrade, 'A').href);
  expect(findLink(onlyA, 'data').href).toBe('/directory?grade=A&category=data&sort=grade');
  const inData = await service.get(findLink(onlyA, 'data').href);
  expect(['A', 'data', 'Best grade'].map((text) => findLink(inData, text).isCurrent)).toEqual([
    true,
    true,
    true,
  ]);
  expect(listHosts(inData)).toEqual(['shop.example.net', 'a.example.com']);
  const api = await service.get('/v1/directory?grade=A&category=data&sort=grade');
  expect(api.json().projects.map(({ host }: { host: string }) => host)).toEqual(listHosts(inData));
  // The search form sends the filters along.
  for (const field of ['grade" value="A', 'category" value="data', 'sort" value="grade']) {
    expect(inData.body).toContain(`<input type="hidden" name="${field}">`);
  }
});

test('a row says who can pay, from which price, and what the census found', async () => {
  await using service = await startDirectory();
  await listOrigin(service.store, 'a.example.com');
  await writeCensusWords(service.store, 'a.example.com', `${'-'.repeat(27)}npp`);
  const page = await service.get('/directory?q=EXAMPLE.com');
  expect(page.body).toContain('default clients<br><small>$0.01, USDC on Base</small>');
  expect(page.body).toContain('aria-label="Payable on 2 of 3 days that were checked.');
  const dead = await service.get('/directory?q=dead');
  expect(dead.body).toContain('<td>no challenge seen</td>');
  expect(listHosts(await service.get('/directory?payable=today'))).toEqual(['a.example.com']);
  const { projects } = (await service.get('/v1/directory?q=example')).json();
  const payers = projects.map((one: Record<string, unknown>) => [
    one['payableBy'],
    one['priceFrom'],
  ]);
  const price = {
    amount: '10000',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    network: 'eip155:8453',
  };
  expect(payers).toEqual([[null, null], ...Array.from({ length: 3 }, () => ['default', price])]);
});

test('an empty result says how to widen the search', async () => {
  await using service = await startDirectory();
  const page = await service.get('/directory?grade=F&category=travel&q=shop');
  expect(page.body).toContain('<h2>0 origins</h2>');
  expect(listLinks(page).filter(({ text }) => /^(without|all)/.test(text))).toEqual([
    { href: '/directory?category=travel&q=shop', text: 'without Grade: F', isCurrent: false },
    { href: '/directory?grade=F&q=shop', text: 'without Category: travel', isCurrent: false },
    { href: '/directory?grade=F&category=travel', text: 'without “shop”', isCurrent: false },
    { href: '/directory', text: 'all origins', isCurrent: false },
  ]);
});

test('a long list has pages, and a page behind the last one leads back', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  for (let n = 0; n < 65; n += 1) await service.publish(`s${n}.example.com`, { grade: 'A' });
  const first = await service.get('/directory?grade=A');
  expect(first.body).toContain('<h2>1 to 30 of 65 origins</h2>');
  const second = await service.get(findLink(first, 'Next page').href);
  const third = await service.get(findLink(second, 'Next page').href);
  expect(third.body).toContain('<h2>61 to 65 of 65 origins</h2>');
  expect(listLinks(third).some(({ text }) => text === 'Next page')).toBe(false);
  const pages = [first, second, third].flatMap(listHosts);
  expect(new Set(pages).size).toBe(65);
  const beyond = await service.get('/directory?grade=A&page=9');
  expect(findLink(beyond, 'Go to its last page').href).toBe('/directory?grade=A&page=2');
});

test('a filter that does not exist gets a page that says so; older addresses of the front page redirect', async () => {
  await using service = await startDirectory();
  const page = await service.get('/directory?grade=E');
  expect([page.statusCode, page.headers['content-type']]).toEqual([
    400,
    'text/html; charset=utf-8',
  ]);
  expect(page.body).toContain('Open /directory for the whole list.');
  expect((await service.get('/v1/directory?grade=E')).statusCode).toBe(400);
  for (const query of ['q=shop', 'page=1', 'q=shop&page=1']) {
    const answer = await service.get(`/?${query}`);
    expect([answer.statusCode, answer.headers['location']]).toEqual([301, `/directory?${query}`]);
  }
});

test('page, route and feed of the directory share one limit', async () => {
  await using service = await startApp();
  const paths = ['/directory', '/v1/directory', '/directory.atom'];
  for (let n = 0; n < 30; n += 1) await service.get(paths[n % 3] ?? '');
  const answers = await Promise.all(paths.map((path) => service.get(path)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([429, 429, 429]);
});

test("a host's report leads back to its category; the front page leads to the directory", async () => {
  await using service = await startDirectory();
  const report = await service.get('/o/a.example.com');
  expect(findLink(report, 'data').href).toBe('/directory?category=data');
  const front = await service.get('/');
  expect(front.body).toContain('<a href="/directory">The directory: all 4 origins');
});

test('revision 0.1.0 has the page, without grades, payers and census', async () => {
  await using service = await startApp({ revision: '0.1.0' });
  await service.publish('a.example.com', { grade: 'A' });
  const page = await service.get('/directory?grade=F&payable=today');
  expect(listHosts(page)).toEqual(['a.example.com']);
  expect(page.body).not.toMatch(/Who can pay|This week|directory\.atom/);
  expect((await service.get('/directory.atom')).statusCode).toBe(404);
  const [record] = (await service.get('/v1/directory')).json().projects;
  expect(record).not.toHaveProperty('payableBy');
});
