/** Paid resources and candidates: OpenAPI, manifest, index, the root's own 402, llms.txt. */

import type { HttpObservation, ResourceSource } from '../../model/observations.ts';
import type { ManifestReading } from '../../parse/kit/find-manifest.ts';
import type { OpenApiReading } from '../../parse/kit/find-openapi.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import {
  DeclaredRequests,
  type FirstWave,
  type PlannedRequest,
  type PlannedResource,
  pathOnOrigin,
  requestTo,
} from './declared-requests.ts';

/** Bounds the work on a document that lists resources without end. */
const MAX_FOUND = 2_000;
/** Entries of one document that are looked at: many may name one resource, or none of this origin. */
const MAX_READ = 5_000;
const MAX_ELSEWHERE = 3;
const AT_ROOT = { path: '/', template: '/', method: 'GET', madeUp: false } as const;
/** Documents that a scan asks for anyway: none of them is for sale. */
const DISCOVERY =
  /^\/(?:\.well-known\/.*|(?:api\/)?openapi\.(?:json|ya?ml)|swagger\.json|llms(?:-full)?\.txt|robots\.txt|favicon\.\w+)$/is;
const DOCUMENT = /\.(?:txt|md|json|ya?ml|html?|pdf|xml|ico|png|svg|jpe?g)(?:\?|$)/i;

type Draft = {
  path: string;
  template: string;
  method: 'GET' | 'POST' | null;
  sources: Set<ResourceSource>;
  declaredPaid: boolean;
  madeUp: boolean;
};

export function findResources(seen: FirstWave, kit: Kit) {
  const openapi = kit.openapi(seen);
  const manifest = kit.manifest(seen);
  const operations = openapi.state === 'found' ? openapi.facts.operations : [];
  const here = operations.filter(({ elsewhere }) => elsewhere === null);
  const priced = here.filter(({ paid }) => paid);
  const paid = priced.filter(({ signIn }) => !signIn);
  const drafts = new Drafts();

  for (const operation of paid) {
    drafts.add({ ...requestTo(operation), source: 'openapi', declaredPaid: true });
  }
  const declared = new DeclaredRequests(here);
  for (const { target, method } of manifestEntries(manifest)) {
    const template = pathOnOrigin(seen.origin.url, target, kit);
    if (template === null) continue;
    drafts.add({ ...declared.find(template, method), source: 'manifest', declaredPaid: true });
  }
  for (const { resource, method } of indexedResources(seen)) {
    const template = pathOnOrigin(seen.origin.url, resource, kit);
    if (template === null) continue;
    drafts.add({ ...declared.find(template, method), source: 'index', declaredPaid: true });
  }
  const nothingDeclared = drafts.size === 0 && paid.length === 0;
  const candidates: readonly Candidate[] = [
    // A resource that asks for a sign-in sells nothing, unless its answer has a price.
    ...priced
      .filter(({ signIn, method }) => signIn && method === 'GET')
      .map(asCandidate('openapi')),
    ...(answersItself402(seen.root) ? [{ ...AT_ROOT, source: 'root' as const }] : []),
    ...llmsLinks(seen, kit).map((path) => ({
      ...declared.find(path, 'GET'),
      source: 'llms' as const,
    })),
    ...(nothingDeclared ? here.filter(isBareGet) : []).map(asCandidate('undeclared')),
  ];
  for (const candidate of candidates) {
    drafts.add({ ...candidate, method: 'GET', declaredPaid: false });
  }
  const freePosts = freePostsOf(here);
  return {
    resources: drafts
      .toResources(seen.origin.url)
      .map((one) => ({ ...one, freePost: one.method !== 'POST' && freePosts.has(one.path) })),
    otherMethods: unseenMethods(seen, kit, paid, manifest),
    looked: whereWeLooked(seen, kit, openapi, manifest),
    elsewhere: elsewhere(operations),
  };
}

/** Paid operations by methods that would change something, each once however many documents have it. */
function unseenMethods(
  { origin }: FirstWave,
  kit: Kit,
  paid: readonly Operation[],
  manifest: ManifestReading,
): number {
  const requests = paid.map(({ method, template }) => `${method} ${template}`);
  for (const { method, target } of manifestEntries(manifest)) {
    const template = method === null ? null : pathOnOrigin(origin.url, target, kit);
    if (template !== null) requests.push(`${method} ${template}`);
  }
  return new Set(requests.filter((request) => /^(?:PUT|PATCH|DELETE) /.test(request))).size;
}

/** The other origins that paid operations are served from, most operations first. */
function elsewhere(operations: readonly Operation[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { paid, elsewhere: origin } of operations) {
    if (paid && origin !== null) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MAX_ELSEWHERE)
    .map(([origin]) => origin);
}

function asCandidate(source: ResourceSource) {
  return (operation: Operation): Candidate => ({ ...requestTo(operation), source });
}

type Candidate = PlannedRequest & Pick<Finding, 'source'>;

type Finding = PlannedRequest & {
  readonly source: ResourceSource;
  readonly declaredPaid: boolean;
};

/** Merges what several sources say of one resource; an entry without a method joins one with. */
class Drafts {
  readonly #drafts: Draft[] = [];
  readonly #byPath = new Map<string, Draft[]>();

  get size(): number {
    return this.#drafts.length;
  }

  add({ path, template, madeUp, method: declared, source, declaredPaid }: Finding): void {
    const method = declared?.toUpperCase() ?? null;
    if (method !== null && !isProbed(method)) return;
    const same = this.#byPath.get(path) ?? [];
    const known = same.find(
      (draft) => draft.method === method || method === null || draft.method === null,
    );
    // A candidate adds nothing to a resource that is declared by another method.
    if (known === undefined && !declaredPaid && same.length > 0) return;
    if (known !== undefined) {
      known.method ??= method;
      known.sources.add(source);
      known.declaredPaid ||= declaredPaid;
      known.madeUp &&= madeUp;
      return;
    }
    if (this.#drafts.length >= MAX_FOUND) return;
    const draft = { path, template, method, sources: new Set([source]), declaredPaid, madeUp };
    this.#drafts.push(draft);
    this.#byPath.set(path, [...same, draft]);
  }

  toResources(originUrl: string): readonly Omit<PlannedResource, 'freePost'>[] {
    return this.#drafts.map(({ sources, ...draft }) => ({
      url: originUrl + draft.path,
      ...draft,
      sources: [...sources],
    }));
  }
}

/** Paths whose POST is documented, and called paid by no document. */
function freePostsOf(operations: readonly Operation[]): ReadonlySet<string> {
  const free = operations.filter(({ method, paid }) => method === 'POST' && !paid);
  return new Set(free.map(({ requestPath }) => requestPath));
}

function isProbed(method: string): method is 'GET' | 'POST' {
  return method === 'GET' || method === 'POST';
}

/** A GET that may turn out to be paid though nothing says so; what needs input or a login is not. */
function isBareGet(operation: Operation): boolean {
  return (
    operation.method === 'GET' &&
    !operation.hasPathParameters &&
    !operation.hasRequiredParameters &&
    !operation.hasOwnSecurity
  );
}

function manifestEntries(manifest: ManifestReading) {
  if (manifest.state !== 'found' || manifest.facts.shape === 'unknown') return [];
  return manifest.facts.entries.slice(0, MAX_READ);
}

function indexedResources({ x402scan }: FirstWave) {
  if (x402scan.state !== 'seen') return [];
  return x402scan.data.resources.filter((resource) => !resource.deprecated);
}

function answersItself402(root: HttpObservation): boolean {
  return root.ok && root.data.status === 402 && root.data.redirects.length === 0;
}

function llmsLinks({ origin, llmsTxt, soft404 }: FirstWave, kit: Kit): readonly string[] {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  if (reading.state !== 'present') return [];
  const paths = kit
    .markdown(reading.body)
    .links.slice(0, MAX_READ)
    .map((link) => pathOnOrigin(origin.url, link, kit))
    .filter((path) => path !== null)
    .filter((path) => path !== '/' && !path.includes('{') && !DISCOVERY.test(path));
  // The places are few: what looks like a document mostly sells nothing.
  return [...new Set(paths)].toSorted(
    (one, other) => Number(DOCUMENT.test(one)) - Number(DOCUMENT.test(other)),
  );
}

function whereWeLooked(
  seen: FirstWave,
  kit: Kit,
  openapi: OpenApiReading,
  manifest: ManifestReading,
): readonly string[] {
  return [
    `/openapi.json: ${describeOpenApi(openapi)}`,
    `/.well-known/x402: ${describeManifest(manifest)}`,
    `/llms.txt: ${kit.document('/llms.txt', seen.llmsTxt, seen.soft404).state}`,
    `GET /: ${seen.root.ok ? seen.root.data.status : seen.root.reason}`,
    `index: ${seen.x402scan.state === 'seen' ? `${seen.x402scan.data.resources.length} resources` : 'not asked'}`,
  ];
}

function describeOpenApi(reading: OpenApiReading): string {
  if (reading.state === 'none') return 'none';
  if (reading.state === 'yaml') return `only YAML at ${reading.path}, not read`;
  const paid = reading.facts.operations.filter((operation) => operation.paid).length;
  return `${reading.facts.operations.length} operations, ${paid} declared paid`;
}

function describeManifest(reading: ManifestReading): string {
  if (reading.state === 'none') return 'none';
  if (reading.facts.shape === 'unknown') return 'no known shape';
  return `${reading.facts.entries.length} entries`;
}
