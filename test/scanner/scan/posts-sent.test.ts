/**
 * Every POST that a scan of the fixtures sends has a declaration in the seller's own documents. The declarations are
 * read here by rules of this test, not by the scanner's parsers. LIST_POSTS=1 prints the list.
 */
import { afterAll, expect, test } from 'vitest';
import { readFieldCases } from '../../field/field-case.ts';
import { startFieldSeller } from '../../field/field-seller.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { BEHAVIOUR_ROWS } from './crafted/behaviour-rows.ts';
import { DOCUMENT_ROWS } from './crafted/document-rows.ts';
import { MANIFEST_ROWS, SHAPE_ROWS } from './crafted/manifest-rows.ts';
import { METHOD_ROWS, METHODLESS_ROWS, SIGN_IN_ROWS } from './crafted/method-rows.ts';
import { OPENAPI_ROWS } from './crafted/openapi-rows.ts';
import { SITE_ROWS } from './crafted/site-rows.ts';
import { startEngine } from './engine-under-test.ts';

const ROWS = [
  ...[...BEHAVIOUR_ROWS, ...METHOD_ROWS, ...METHODLESS_ROWS, ...SIGN_IN_ROWS],
  ...[...OPENAPI_ROWS, ...MANIFEST_ROWS, ...SHAPE_ROWS, ...DOCUMENT_ROWS, ...SITE_ROWS],
];
const OPENAPI_PATHS = ['/openapi.json', '/.well-known/openapi.json', '/api/openapi.json'];
const MANIFEST_PATHS = ['/.well-known/x402', '/.well-known/x402.json'];

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

type Documents = { readonly openapi: readonly unknown[]; readonly manifests: readonly unknown[] };
type Posted = { readonly name: string; readonly path: string; readonly declaration: string | null };

async function readDocuments(origin: string): Promise<Documents> {
  const read = async (path: string): Promise<unknown> => {
    try {
      const response = await fetch(origin + path, { signal: AbortSignal.timeout(5_000) });
      return response.status === 200 ? JSON.parse(await response.text()) : null;
    } catch {
      return null;
    }
  };
  return {
    openapi: await Promise.all(OPENAPI_PATHS.map(read)),
    manifests: await Promise.all(MANIFEST_PATHS.map(read)),
  };
}

/** Returns the place that sells a POST of the path; null if no document sells it, or OpenAPI calls it free. */
function findDeclaration({ openapi, manifests }: Documents, path: string): string | null {
  const plain = (path.split('?', 1)[0] ?? path).replace(/(.)\/$/, '$1');
  const operations = openapi.flatMap((document) => listPosts(document));
  const own = operations.filter(({ pattern }) => pattern.test(plain));
  if (own.some(({ isFree }) => isFree)) return null;
  const sold = own.find(({ isSold }) => isSold);
  if (sold !== undefined) return `OpenAPI: ${sold.template}`;
  const entry = manifests.flatMap(listTexts).find((text) => {
    const target = text.replace(/^[A-Z]+\s+/, '').replace(/^https?:\/\/[^/]+/, '');
    const isOtherMethod = /^(?!POST)[A-Z]+\s/.test(text);
    return !isOtherMethod && toPattern(target.split('?', 1)[0] ?? '').test(plain);
  });
  return entry === undefined ? null : `manifest: ${entry}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listPosts(document: unknown) {
  const paths = isObject(document) && isObject(document['paths']) ? document['paths'] : {};
  return Object.entries(paths).flatMap(([template, item]) => {
    const post = isObject(item) ? item['post'] : undefined;
    if (!isObject(post)) return [];
    const has402 = isObject(post['responses']) && '402' in post['responses'];
    const namesSale = Object.keys(post).some((name) => /^x-.*(?:payment|402|usdc)/.test(name));
    const isSold = has402 || namesSale;
    const isOpen = Array.isArray(post['security']) && post['security'].length === 0;
    return [{ template, pattern: toPattern(template), isSold, isFree: isOpen && !isSold }];
  });
}

/** Matches the template behind any base path. */
function toPattern(template: string): RegExp {
  const steps = template.replace(/(.)\/$/, '$1').split('/');
  const source = steps.map((step) => (/^[:{[*]/.test(step) ? '[^/]+' : escapeText(step)));
  return template.startsWith('/') ? new RegExp(`${source.join('/')}$`) : /^(?!)/;
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Lists texts and keys at any depth. */
function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(listTexts);
  return isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => [key, ...listTexts(inner)])
    : [];
}

async function postsToCrafted(name: string, options: CraftedOptions): Promise<readonly Posted[]> {
  await using seller = await startCraftedSeller(options);
  await engine.scan(seller.url);
  const posts = seller.requests.filter(({ method }) => method === 'POST');
  if (posts.length === 0) return [];
  const documents = await readDocuments(seller.url);
  return posts.map(({ path }) => ({ name, path, declaration: findDeclaration(documents, path) }));
}

test('every POST to the fixtures has a declaration that allows it', async () => {
  const posts: Posted[] = [];
  for (const { name, answers } of ROWS) posts.push(...(await postsToCrafted(name, { answers })));
  for (const { id, seller: rows, recording, run } of await readFieldCases()) {
    if (recording !== null || run !== null) continue;
    await using seller = await startFieldSeller(rows);
    await engine.scan(seller.url);
    const sent = seller.seen.filter((request) => request.startsWith('POST '));
    const documents = sent.length === 0 ? NONE : await readDocuments(seller.url);
    for (const path of sent.map((request) => request.slice('POST '.length))) {
      posts.push({ name: id, path, declaration: findDeclaration(documents, path) });
    }
  }
  if (process.env['LIST_POSTS'] !== undefined) {
    const lines = posts.map(
      ({ name, path, declaration }) => `POST ${path} ← ${declaration} (${name})`,
    );
    process.stdout.write(`${[...new Set(lines)].join('\n')}\n`);
  }
  expect(posts.length).toBeGreaterThan(100);
  expect(posts.filter(({ declaration }) => declaration === null)).toEqual([]);
}, 300_000);

const NONE: Documents = { openapi: [], manifests: [] };

test('a POST without a declaration would be found', () => {
  const free = { paths: { '/verify': { post: { security: [], responses: { 200: {} } } } } };
  const manifests = [{ resources: [{ resource: 'https://seller.dev/verify', method: 'POST' }] }];
  expect(findDeclaration(NONE, '/verify')).toBeNull();
  expect(findDeclaration({ openapi: [free], manifests }, '/verify')).toBeNull();
  expect(findDeclaration({ openapi: [], manifests }, '/verify')).toContain('manifest');
});

test.each([
  ['an entry for nothing', { accepts: [] }, {}],
  ['an entry of price 0', { price: '0' }, {}],
  ['an operation that OpenAPI calls free', {}, { post: { security: [], responses: { 200: {} } } }],
])('%s gets no POST', async (_, entry, item) => {
  const body = { resources: [{ resource: '/verify', method: 'POST', ...entry }] };
  const paths = { '/verify': item };
  const openapi = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths };
  await using seller = await startCraftedSeller({
    answers: {
      '/.well-known/x402': { status: 200, body },
      '/openapi.json': { status: 200, body: openapi },
    },
  });
  await engine.scan(seller.url);
  expect(seller.requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

test('a POST is repeated only after a 402', async () => {
  await using seller = await startCraftedSeller({
    answers: { 'POST /summaries': { status: 200, body: { ran: true } } },
  });
  await engine.scan(seller.url);
  expect(seller.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});
