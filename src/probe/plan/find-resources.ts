/** Finds paid resources and candidates in OpenAPI, manifest, index, the root's own 402 and llms.txt. */

import type { HttpObservation, ResourceSource } from '../../model/observations.ts';
import type { ManifestReading } from '../../parse/kit/find-manifest.ts';
import type { OpenApiReading } from '../../parse/kit/find-openapi.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import {
  DeclaredRequests,
  type FirstWave,
  findPathOnOrigin,
  type PlannedRequest,
  type PlannedResource,
  toPlannedRequest,
} from './declared-requests.ts';

/** Limits the work on a document that lists resources without end. */
const MAX_RESOURCES = 2_000;
/** Limit per document. Higher than `MAX_RESOURCES`, as entries may name other origins, or one resource again. */
const MAX_ENTRIES_READ = 5_000;
const MAX_OTHER_ORIGINS = 3;
const ROOT_REQUEST = { path: '/', template: '/', method: 'GET', madeUp: false } as const;
/** Documents that every scan requests. None of them is for sale. */
const DISCOVERY_PATH =
  /^\/(?:\.well-known\/.*|(?:api\/)?openapi\.(?:json|ya?ml)|swagger\.json|llms(?:-full)?\.txt|robots\.txt|favicon\.\w+)$/is;
const DOCUMENT_PATH = /\.(?:txt|md|json|ya?ml|html?|pdf|xml|ico|png|svg|jpe?g)(?:\?|$)/i;

type Draft = {
  path: string;
  template: string;
  method: 'GET' | 'POST' | null;
  sources: Set<ResourceSource>;
  declaredPaid: boolean;
  declaredX402: boolean;
  madeUp: boolean;
};

export function findResources(wave: FirstWave, kit: Kit) {
  const openapi = kit.openapi(wave);
  const manifest = kit.manifest(wave);
  const operations = openapi.state === 'found' ? openapi.facts.operations : [];
  const localOperations = operations.filter(({ elsewhere }) => elsewhere === null);
  const priced = localOperations.filter(({ paid }) => paid);
  const paid = priced.filter(({ signIn }) => !signIn);
  const drafts = new Drafts();

  const schemes = openapi.state === 'found' ? kit.paymentSchemes(openapi.facts).x402 : [];
  for (const operation of paid) {
    const declaredX402 = isSoldOverX402(operation, schemes);
    const request = toPlannedRequest(operation);
    drafts.add({ ...request, source: 'openapi', declaredPaid: true, declaredX402 });
  }
  const declared = new DeclaredRequests(localOperations);
  const addDeclared = (target: string, method: string | null, source: ResourceSource) => {
    const template = findPathOnOrigin(wave.origin.url, target, kit);
    if (template === null) return;
    const declaredX402 = source === 'manifest';
    drafts.add({ ...declared.find(template, method), source, declaredPaid: true, declaredX402 });
  };
  for (const entry of readManifestEntries(manifest)) {
    addDeclared(entry.target, entry.method, 'manifest');
  }
  // If every path asks for a payment, a 402 says nothing of what is sold.
  const isGuarded = wave.soft404.ok && wave.soft404.data.status === 402;
  for (const { resource, method } of isGuarded ? [] : readIndexedResources(wave)) {
    addDeclared(resource, method, 'index');
  }
  const isAnyDeclared = drafts.size > 0 || paid.length > 0;
  const addCandidates = (requests: readonly PlannedRequest[], source: ResourceSource) => {
    if (isGuarded) return;
    for (const request of requests) {
      drafts.add({ ...request, source, method: 'GET', declaredPaid: false, declaredX402: false });
    }
  };
  // A resource that asks for a sign-in sells nothing, unless its answer has a price.
  const signInGets = priced.filter(({ signIn, method }) => signIn && method === 'GET');
  addCandidates(signInGets.map(toPlannedRequest), 'openapi');
  if (hasPaidRoot(wave.root)) addCandidates([ROOT_REQUEST], 'root');
  const llmsRequests = readLlmsLinks(wave, kit).map((path) => declared.find(path, 'GET'));
  addCandidates(llmsRequests, 'llms');
  if (!isAnyDeclared) {
    addCandidates(localOperations.filter(isPlainGet).map(toPlannedRequest), 'undeclared');
  }
  const freePosts = findFreePosts(localOperations);
  return {
    resources: drafts.toResources(wave.origin.url).map((resource) => ({
      ...resource,
      freePost: resource.method !== 'POST' && freePosts.has(resource.path),
    })),
    otherMethods: countOtherMethods(wave, kit, paid, manifest),
    looked: describeSources(wave, kit, openapi, manifest),
    elsewhere: findOtherOrigins(operations),
  };
}

/** Counts the paid operations by PUT, PATCH and DELETE, which are never sent. Duplicates count once. */
function countOtherMethods(
  { origin }: FirstWave,
  kit: Kit,
  paid: readonly Operation[],
  manifest: ManifestReading,
): number {
  const requests = paid.map(({ method, template }) => `${method} ${template}`);
  for (const { method, target } of readManifestEntries(manifest)) {
    const template = method === null ? null : findPathOnOrigin(origin.url, target, kit);
    if (template !== null) requests.push(`${method} ${template}`);
  }
  return new Set(requests.filter((request) => /^(?:PUT|PATCH|DELETE) /.test(request))).size;
}

/** The other origins that paid operations are served from, most operations first. */
function findOtherOrigins(operations: readonly Operation[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { paid, elsewhere: origin } of operations) {
    if (paid && origin !== null) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_OTHER_ORIGINS)
    .map(([origin]) => origin);
}

type Finding = PlannedRequest & {
  readonly source: ResourceSource;
  readonly declaredPaid: boolean;
  readonly declaredX402: boolean;
};

/** Merges what several sources say about one resource. An entry without a method joins one with a method. */
class Drafts {
  readonly #drafts: Draft[] = [];
  readonly #byPath = new Map<string, Draft[]>();

  get size(): number {
    return this.#drafts.length;
  }

  add({ path, template, madeUp, source, declaredPaid, declaredX402, ...finding }: Finding): void {
    const method = finding.method?.toUpperCase() ?? null;
    if (method !== null && !isProbedMethod(method)) return;
    const samePath = this.#byPath.get(path) ?? [];
    const existing = samePath.find(
      (draft) => draft.method === method || method === null || draft.method === null,
    );
    // A candidate is dropped if its path is declared with another method.
    if (existing === undefined && !declaredPaid && samePath.length > 0) return;
    if (existing !== undefined) {
      existing.method ??= method;
      existing.sources.add(source);
      existing.declaredPaid ||= declaredPaid;
      existing.declaredX402 ||= declaredX402;
      existing.madeUp &&= madeUp;
      return;
    }
    if (this.#drafts.length >= MAX_RESOURCES) return;
    const sources = new Set([source]);
    const draft = { path, template, method, sources, declaredPaid, declaredX402, madeUp };
    this.#drafts.push(draft);
    this.#byPath.set(path, [...samePath, draft]);
  }

  toResources(originUrl: string): readonly Omit<PlannedResource, 'freePost'>[] {
    return this.#drafts.map(({ sources, declaredX402, ...draft }) => ({
      url: originUrl + draft.path,
      ...draft,
      ...(declaredX402 ? { declaredX402 } : {}),
      sources: [...sources],
    }));
  }
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

/** Returns paths with a documented POST that no document declares as paid. */
function findFreePosts(operations: readonly Operation[]): ReadonlySet<string> {
  const free = operations.filter(({ method, paid }) => method === 'POST' && !paid);
  return new Set(free.map(({ requestPath }) => requestPath));
}

function isProbedMethod(method: string): method is 'GET' | 'POST' {
  return method === 'GET' || method === 'POST';
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

export function readIndexedResources({ x402scan }: Pick<FirstWave, 'x402scan'>) {
  if (x402scan.state !== 'seen') return [];
  return x402scan.data.resources.filter((resource) => !resource.deprecated);
}

function hasPaidRoot(root: HttpObservation): boolean {
  return root.ok && root.data.status === 402 && root.data.redirects.length === 0;
}

function readLlmsLinks({ origin, llmsTxt, soft404 }: FirstWave, kit: Kit): readonly string[] {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  if (reading.state !== 'present') return [];
  const { links, calledLinks } = kit.markdown(reading.body);
  // A candidate is asked by GET only, so an address that is called by another method is none.
  const called = new Set(calledLinks);
  const paths = links
    .filter((link) => !called.has(link))
    .slice(0, MAX_ENTRIES_READ)
    .map((link) => findPathOnOrigin(origin.url, link, kit))
    .filter((path) => path !== null)
    .filter((path) => path !== '/' && !path.includes('{') && !DISCOVERY_PATH.test(path));
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
  if (reading.state === 'yaml') return `only YAML at ${reading.path}, not read`;
  const paid = reading.facts.operations.filter((operation) => operation.paid).length;
  return `${reading.facts.operations.length} operations, ${paid} declared paid`;
}

function describeManifest(reading: ManifestReading): string {
  if (reading.state === 'none') return 'none';
  if (reading.facts.shape === 'unknown') return 'no known shape';
  return `${reading.facts.entries.length} entries`;
}
