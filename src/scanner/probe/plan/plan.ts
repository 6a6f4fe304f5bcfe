/**
 * Makes the plan of the second wave: the resources, links and icons to request. It reads them from the
 * documents of the first wave. Pure; runs on a worker, because it parses what a hostile origin wrote.
 */
import type { HttpObservation, OpenApiAnswer, UnsentRequest } from '../../model/observations.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { DocumentReading } from '../../parse/kit/read-document.ts';
import { findExceededLimit } from '../../parse/text/document-limits.ts';
import type { FirstWave, PlannedResource } from './declared-requests.ts';
import { findLinks, type LinkPlan } from './find-links.ts';
import { findResources } from './find-resources.ts';

/** `path` is a template of OpenAPI ("/users/{id}"), or a path with its query. */
export type DeclaredSale = { readonly method: 'GET' | 'POST'; readonly path: string };

export type Plan = {
  readonly resources: readonly PlannedResource[];
  /** Number of resources that documents declare as paid. */
  readonly declared: number;
  /** The operations that OpenAPI and manifest sell by GET and POST, probed or not. */
  readonly sold: readonly DeclaredSale[];
  /** Number of paid operations by methods that we do not send. */
  readonly otherMethods: number;
  /** One line for each source, such as "/openapi.json: 404". */
  readonly looked: readonly string[];
  /** Other origins that serve the paid operations of the OpenAPI document. */
  readonly elsewhere: readonly string[];
  /** Documents that may declare paid paths, and could not be read: "/openapi.json: 429". */
  readonly unread: readonly string[];
  /** Requests by POST, PUT or other methods that only an index, the root or llms.txt names. They are not sent. */
  readonly unsent: readonly UnsentRequest[];
  readonly links: LinkPlan;
  readonly icons: IconPlan;
};

export function makePlan(wave: FirstWave, kit: Kit): Plan {
  const { resources, ...otherFindings } = findResources(wave, kit);
  return {
    resources: chooseResources(resources),
    declared: resources.filter((resource) => resource.declaredPaid).length,
    sold: findSold(resources),
    ...otherFindings,
    unread: findUnread(wave, kit),
    links: findLinks(wave, kit),
    icons: findIcons(wave, kit),
  };
}

const MAX_SOLD = 200;

/** A resource without a method is sold by GET, and by POST if its documents sell the POST without doubt. */
function findSold(resources: readonly PlannedResource[]): readonly DeclaredSale[] {
  const declared = resources.filter(
    ({ declaredPaid, sources }) =>
      declaredPaid && (sources.includes('openapi') || sources.includes('manifest')),
  );
  return declared.slice(0, MAX_SOLD).flatMap(({ method, template, post }) => {
    const methods = method === null ? (['GET', 'POST'] as const) : [method];
    return methods
      .filter((one) => one === 'GET' || post === 'sold')
      .map((one) => ({ method: one, path: template }));
  });
}

export const MAX_PROBED_RESOURCES = 6;
/** More than any number of facets, so that declared resources precede candidates. */
const DECLARED_SCORE = 100;

/**
 * Chooses resources that cover as many methods and sources as possible. Each step takes the resource with the
 * most methods and sources that are not yet covered.
 */
export function chooseResources(resources: readonly PlannedResource[]): readonly PlannedResource[] {
  const chosen: PlannedResource[] = [];
  const covered = new Set<string>();
  const remaining = [...resources];
  while (chosen.length < MAX_PROBED_RESOURCES && remaining.length > 0) {
    const best = remaining.reduce((a, b) =>
      scoreResource(b, covered) > scoreResource(a, covered) ? b : a,
    );
    remaining.splice(remaining.indexOf(best), 1);
    chosen.push(best);
    for (const facet of listFacets(best)) covered.add(facet);
  }
  return chosen.sort((a, b) => resources.indexOf(a) - resources.indexOf(b));
}

function scoreResource(resource: PlannedResource, covered: ReadonlySet<string>): number {
  const uncovered = listFacets(resource).filter((facet) => !covered.has(facet)).length;
  return uncovered + (resource.declaredPaid ? DECLARED_SCORE : 0);
}

function listFacets({ method, sources }: PlannedResource): readonly string[] {
  return [`method ${method ?? 'none'}`, ...sources.map((source) => `source ${source}`)];
}

const SERVER_ERROR = 500;

/**
 * Returns a line for each document that may declare paid paths, and that the scan could not read: "/openapi.json: 429".
 * A status of 401, 402, 403 or 404 is an answer, so the document is absent. On a site that answers every path with a
 * page, an HTML page hides no document.
 */
function findUnread(wave: FirstWave, kit: Kit): readonly string[] {
  const documents: readonly OpenApiAnswer[] = [
    { path: '/openapi.json', answer: wave.openapi },
    ...wave.openapiAlternates,
    { path: '/.well-known/x402', answer: wave.manifest },
    { path: '/.well-known/x402.json', answer: wave.manifestJson },
  ];
  const llmsTxt = kit.document('/llms.txt', wave.llmsTxt, wave.soft404);
  const { soft404 } = wave;
  const isPageEverywhere = kit.isHtml(soft404) && soft404.ok && soft404.data.status === 200;
  const lines = documents.flatMap((document): readonly string[] => {
    const { path, answer } = document;
    if (isBudgetSpent(answer)) return [];
    const reading = kit.document(path, answer, wave.soft404);
    if (reading.state === 'present') return listUnreadReasons(document, reading.body, kit);
    if (reading.state === 'html') return isPageEverywhere ? [] : [reading.evidence];
    return isUnread(reading) ? [reading.evidence] : [];
  });
  return isUnread(llmsTxt) && !isBudgetSpent(wave.llmsTxt) ? [...lines, llmsTxt.evidence] : lines;
}

/** True if the scan had used up its bytes. The origin itself caused this, so the checks report it. */
function isBudgetSpent(answer: HttpObservation): boolean {
  return (answer.ok ? answer.data.bodyFailure : answer.reason) === 'budget';
}

/** True if the path may have a document that the scan could not read. */
function isUnread(
  reading: DocumentReading,
): reading is Exclude<DocumentReading, { state: 'present' | 'soft-404' | 'html' }> {
  if (reading.state === 'absent') return reading.status >= SERVER_ERROR;
  return ['rate-limited', 'unreadable', 'over-limit'].includes(reading.state);
}

/** JSON that breaks our limits, and a text that its server does not call JSON, may hold declarations. */
function listUnreadReasons(
  { path, answer, yaml }: OpenApiAnswer,
  body: string,
  kit: Kit,
): readonly string[] {
  const isManifest = path.startsWith('/.well-known/x402');
  const json = isManifest ? kit.json(body) : kit.openapiJson(body);
  if (json.ok || !answer.ok || (yaml !== undefined && 'json' in yaml)) return [];
  const limit = findExceededLimit(json, yaml);
  if (limit !== null) return [`GET ${path}: 200, but ${limit}, our limit`];
  if (yaml !== undefined) return [];
  const type = kit.header(answer.data, 'content-type') ?? '';
  const isOtherType = type !== '' && !/json/i.test(type);
  return isOtherType ? [`GET ${path}: 200 ${kit.quote(type, 40)}`] : [];
}

/** `paths` has the icons that the root names, then the paths that browsers try. */
export type IconPlan = {
  readonly paths: readonly string[];
  readonly otherHosts: readonly string[];
  /** True if an icon is a data URL. */
  readonly inline: boolean;
};

const FALLBACK_PATHS = ['/favicon.ico', '/favicon.png', '/favicon.svg'];
const MAX_NAMED_ICONS = 2;
const MAX_OTHER_HOSTS = 5;

function findIcons({ origin, root }: FirstWave, kit: Kit): IconPlan {
  const references = root.ok && kit.isHtml(root) ? readIconReferences(root.data.body, kit) : [];
  const base = root.ok ? root.data.url : origin.url;
  const paths: string[] = [];
  const otherHosts: string[] = [];
  for (const reference of references) {
    if (reference.startsWith('data:') || !URL.canParse(reference, base)) continue;
    const absolute = new URL(reference, base);
    const url = kit.sameOrigin(origin.url, absolute.href);
    if (url === null) otherHosts.push(absolute.host);
    else paths.push(url.pathname + url.search);
  }
  return {
    paths: [...new Set([...paths.slice(0, MAX_NAMED_ICONS), ...FALLBACK_PATHS])],
    otherHosts: [...new Set(otherHosts)].slice(0, MAX_OTHER_HOSTS),
    inline: references.some((reference) => reference.startsWith('data:')),
  };
}

function readIconReferences(body: string, kit: Kit): readonly string[] {
  return kit
    .html(body)
    .links.filter((link) => link.rel.includes('icon'))
    .map((link) => link.href.trim());
}
