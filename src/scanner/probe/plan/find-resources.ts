/** Finds paid resources and candidates in OpenAPI, manifest, index, the root's own 402 and llms.txt. */

import type { HttpObservation, ResourceSource, UnsentRequest } from '../../model/observations.ts';
import type { ManifestReading, OpenApiReading } from '../../parse/kit/find-documents.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import { isLocalHost } from '../../parse/openapi/openapi-path.ts';
import type { ManifestEntry } from '../../parse/x402/manifest.ts';
import {
  DeclaredRequests,
  type FirstWave,
  findPathOnOrigin,
  type PlannedRequest,
  type PostRule,
  toPlannedRequest,
} from './declared-requests.ts';
import { findPriceLists, type PricedPath } from './find-price-lists.ts';
import { DISCOVERY_PATH, type ManifestSale, ManifestSales } from './manifest-sales.ts';
import { type FoundRequest, ResourceDrafts } from './resource-drafts.ts';

/** Limit per document. Entries may name other origins, or one resource again. */
const MAX_ENTRIES_READ = 5_000;
const MAX_OTHER_ORIGINS = 3;
const MAX_UNSENT = 20;
const MAX_NAMED_PATHS = 20;
const ROOT_REQUEST = { path: '/', template: '/', method: 'GET', madeUp: false } as const;
const DOCUMENT_PATH = /\.(?:txt|md|json|ya?ml|html?|pdf|xml|ico|png|svg|jpe?g)(?:\?|$)/i;

export function findResources(wave: FirstWave, kit: Kit) {
  const openapi = kit.openapi(wave);
  const manifest = kit.manifest(wave);
  const operations = openapi.state === 'found' ? openapi.facts.operations : [];
  const localOperations = operations.filter(({ elsewhere }) => elsewhere === null);
  const declared = new DeclaredRequests(localOperations);
  const entries = readManifestEntries(manifest);
  const sales = new ManifestSales(entries, declared, wave.origin.url, kit);
  const paid = localOperations.filter((operation) => sales.isSold(operation));
  const drafts = new ResourceDrafts();
  const schemes = openapi.state === 'found' ? kit.paymentSchemes(openapi.facts).x402 : [];
  for (const operation of paid) {
    const isPosted = operation.method === 'POST' && !sales.isFree(operation);
    const post: PostRule = isPosted ? 'sold' : 'never';
    const declaredX402 = isSoldOverX402(operation, schemes);
    const request = { ...toPlannedRequest(operation), post, declaredX402 };
    drafts.add({ ...request, source: 'openapi', declaredPaid: true });
  }
  const manifestFindings = sales.list().map((sale) => toManifestFinding(sale, declared));
  for (const finding of manifestFindings) {
    if (finding.declaredPaid) drafts.add(finding);
  }
  const sold = new Set(paid);
  const priceLists = findPriceLists(wave, kit).filter(({ template }) => isOffered(template));
  const context = { wave, kit, declared, priceLists };
  const candidates = [
    ...manifestFindings.filter(({ declaredPaid }) => !declaredPaid),
    // An operation that asks for a sign-in, or that is called free, sells nothing, unless it answers 402.
    ...localOperations
      .filter(
        (operation) =>
          operation.method === 'GET' && !sold.has(operation) && speaksOfPayment(operation),
      )
      .map((operation) => toCandidate(toPlannedRequest(operation), 'openapi')),
    ...listNamedPaths(manifest, wave, kit).map((path) =>
      toCandidate(declared.findRequest(path, 'GET'), 'manifest'),
    ),
    ...listNamedCandidates(context),
    ...(drafts.size > 0 || paid.length > 0
      ? []
      : localOperations
          .filter(isPlainGet)
          .map((operation) => toCandidate(toPlannedRequest(operation), 'undeclared'))),
    // Rows of an index come last. A stranger can write them.
    ...readIndexedRequests(wave, kit).map(({ template }) =>
      toCandidate(declared.findRequest(template, 'GET'), 'index'),
    ),
  ];
  // If every path asks for a payment, a 402 says nothing of what is sold.
  const isGuarded = wave.soft404.ok && wave.soft404.data.status === 402;
  for (const candidate of isGuarded ? [] : candidates) drafts.add(candidate);
  return {
    resources: drafts.toResources(wave.origin.url),
    otherMethods: countOtherMethods(wave, kit, paid, entries),
    looked: describeSources(wave, kit, openapi, manifest),
    elsewhere: findOtherOrigins(operations, sales.size === 0 ? entries : [], wave.origin.url),
    unsent: findUnsent(context, drafts),
  };
}

/** Lists paths that the manifest names without a word of a sale. */
function listNamedPaths(manifest: ManifestReading, { origin }: FirstWave, kit: Kit) {
  if (manifest.state !== 'found' || manifest.facts.shape !== 'unknown') return [];
  return manifest.facts.named
    .flatMap((address) => findPathOnOrigin(origin.url, address, kit) ?? [])
    .filter(isOffered)
    .slice(0, MAX_NAMED_PATHS);
}

type Context = {
  readonly wave: FirstWave;
  readonly kit: Kit;
  readonly declared: DeclaredRequests;
  readonly priceLists: readonly PricedPath[];
};

/** Lists what the root and llms.txt name: prices before links, which rarely sell anything. */
function listNamedCandidates(context: Context): readonly FoundRequest[] {
  const { wave, kit, declared, priceLists } = context;
  return [
    ...(hasPaidRoot(wave.root) ? [toCandidate(ROOT_REQUEST, 'root')] : []),
    ...priceLists
      .filter(({ method }) => method === 'GET')
      .map(({ template, example, source }) =>
        toCandidate(findExampleRequest(template, example, declared), source),
      ),
    ...readLlmsLinks(wave, kit).map((path) =>
      toCandidate(declared.findRequest(path, 'GET'), 'llms'),
    ),
  ];
}

/** Lists what only the root, llms.txt or an index names by a method whose request may have an effect. */
function findUnsent(
  { wave, kit, declared, priceLists }: Context,
  drafts: ResourceDrafts,
): readonly UnsentRequest[] {
  const isSold = (template: string) =>
    drafts.sellsPost(declared.findRequest(template, 'POST').path);
  return [
    ...priceLists.map(({ method, template, source }) => ({ method, template, source })),
    ...readIndexedRequests(wave, kit).map((request) => ({ ...request, source: 'index' as const })),
  ]
    .filter(({ method }) => method !== 'GET' && method !== 'HEAD')
    .filter(({ template }) => !isSold(template))
    .slice(0, MAX_UNSENT);
}

function toManifestFinding(
  { template, method, example, ...sale }: ManifestSale,
  declared: DeclaredRequests,
): FoundRequest {
  const found = declared.findRequest(template, method);
  const hasExample = found.madeUp && example !== undefined;
  const request = hasExample ? { ...found, path: example, madeUp: false } : found;
  return { ...request, ...sale, source: 'manifest', declaredX402: sale.declaredPaid };
}

function speaksOfPayment({ declares402, paymentInfo }: Operation): boolean {
  return declares402 || paymentInfo !== null;
}

const CANDIDATE = { declaredPaid: false, declaredX402: false, post: 'never' } as const;

function toCandidate(request: PlannedRequest, source: ResourceSource): FoundRequest {
  return { ...request, source, method: 'GET', ...CANDIDATE };
}

/** False for the root, which is a candidate of its own, and for documents that every scan requests. */
function isOffered(template: string): boolean {
  return template !== '/' && !DISCOVERY_PATH.test(template);
}

/** An example beside a template is a declared value. */
function findExampleRequest(
  template: string,
  example: string | null,
  declared: DeclaredRequests,
): PlannedRequest {
  if (example === null) return declared.findRequest(template, 'GET');
  return { path: example, template, method: 'GET', madeUp: false };
}

/** Counts the paid operations by PUT, PATCH and DELETE, which are never sent. Duplicates count once. */
function countOtherMethods(
  { origin }: FirstWave,
  kit: Kit,
  paid: readonly Operation[],
  entries: readonly ManifestEntry[],
): number {
  const requests = paid.map(({ method, template }) => `${method} ${template}`);
  for (const { method, target, sale } of entries) {
    if (sale === 'free') continue;
    const template = method === null ? null : findPathOnOrigin(origin.url, target, kit);
    if (template !== null) requests.push(`${method} ${template}`);
  }
  return new Set(requests.filter((request) => /^(?:PUT|PATCH|DELETE) /.test(request))).size;
}

/** The other origins that paid operations are served from, most operations first. */
function findOtherOrigins(
  operations: readonly Operation[],
  entries: readonly ManifestEntry[],
  originUrl: string,
): readonly string[] {
  const counts = new Map<string, number>();
  const count = (origin: string) => counts.set(origin, (counts.get(origin) ?? 0) + 1);
  for (const { paid, elsewhere: origin } of operations) {
    if (paid && origin !== null) count(origin);
  }
  for (const { target, sale } of entries) {
    const url = sale === 'free' ? null : URL.parse(target, originUrl);
    const isPublic = url !== null && !isLocalHost(url.hostname, new URL(originUrl).hostname);
    if (isPublic && /^https?:$/.test(url.protocol)) count(url.origin);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_OTHER_ORIGINS)
    .map(([origin]) => origin);
}

/** True if the operation names x402 as its protocol, or secures itself by the scheme that S2 accepts. */
function isSoldOverX402(
  { protocolNames, security }: Operation,
  schemes: readonly string[],
): boolean {
  return (
    protocolNames.some((name) => /^x402$/i.test(name)) ||
    (security ?? []).some((requirement) => schemes.some((name) => Object.hasOwn(requirement, name)))
  );
}

/** True for a GET that needs neither input nor a login. It may be paid although no document says so. */
function isPlainGet(operation: Operation): boolean {
  return (
    operation.method === 'GET' &&
    !operation.hasPathParameters &&
    !operation.hasRequiredParameters &&
    !operation.hasOwnSecurity
  );
}

export function readManifestEntries(manifest: ManifestReading) {
  if (manifest.state !== 'found' || manifest.facts.shape === 'unknown') return [];
  return manifest.facts.entries.slice(0, MAX_ENTRIES_READ);
}

function readIndexedRequests({ origin, x402scan }: FirstWave, kit: Kit) {
  if (x402scan.state !== 'seen') return [];
  return x402scan.data.resources
    .filter((resource) => !resource.deprecated)
    .slice(0, MAX_ENTRIES_READ)
    .flatMap(({ resource, method }) => {
      const template = findPathOnOrigin(origin.url, resource, kit);
      return template === null ? [] : [{ method: method?.toUpperCase() ?? 'GET', template }];
    });
}

function hasPaidRoot(root: HttpObservation): boolean {
  return root.ok && root.data.status === 402 && root.data.redirects.length === 0;
}

function readLlmsLinks({ origin, llmsTxt, soft404 }: FirstWave, kit: Kit): readonly string[] {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  if (reading.state !== 'present') return [];
  const { links, endpointLinks } = kit.markdown(reading.body);
  // A candidate is asked by GET only, so an address that is called by another method is none.
  const endpoints = new Set(endpointLinks);
  const paths = links
    .filter((link) => !endpoints.has(link))
    .slice(0, MAX_ENTRIES_READ)
    .map((link) => findPathOnOrigin(origin.url, link, kit))
    .filter((path) => path !== null)
    .filter((path) => isOffered(path) && !path.includes('{'));
  // Few links are probed. Those that look like documents rarely sell anything, so they come last.
  return [...new Set(paths)].toSorted(
    (a, b) => Number(DOCUMENT_PATH.test(a)) - Number(DOCUMENT_PATH.test(b)),
  );
}

function describeSources(
  wave: FirstWave,
  kit: Kit,
  openapi: OpenApiReading,
  manifest: ManifestReading,
): readonly string[] {
  return [
    `/openapi.json: ${describeOpenApi(openapi)}`,
    `/.well-known/x402: ${describeManifest(manifest)}`,
    `/llms.txt: ${kit.document('/llms.txt', wave.llmsTxt, wave.soft404).state}`,
    `GET /: ${wave.root.ok ? wave.root.data.status : wave.root.reason}`,
    `index: ${wave.x402scan.state === 'seen' ? `${wave.x402scan.data.resources.length} resources` : 'not asked'}`,
  ];
}

function describeOpenApi(reading: OpenApiReading): string {
  if (reading.state === 'none') return 'none';
  if (reading.state === 'unread') return 'not read';
  const paid = reading.facts.operations.filter((operation) => operation.paid).length;
  return `${reading.facts.operations.length} operations, ${paid} declared paid`;
}

function describeManifest(reading: ManifestReading): string {
  if (reading.state === 'none') return 'none';
  if (reading.facts.shape === 'unknown') return 'no known shape';
  return `${reading.facts.entries.length} entries`;
}
