/** Collects paid routes from documents and answers, and none from the rows of an index. Pure; runs on a worker. */
import type { HttpData } from '../model/observation.ts';
import type { ResourceObservation, ResourceSet } from '../model/observations.ts';
import type { FreeRoute, ReportOffer, ReportRoute, RouteFacts } from '../model/report.ts';
import { type JsonValue, jsonList, jsonObject, jsonText } from '../parse/json/json.ts';
import type { UnpricedSources } from '../parse/kit/free-operations.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import type { Operation } from '../parse/openapi/openapi.ts';
import { removeQuery } from '../parse/openapi/openapi-path.ts';
import { cleanText } from '../parse/text/text.ts';
import type { Challenge } from '../parse/x402/challenge.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { listFirstProbes } from '../parse/x402/resource-answers.ts';
import { DeclaredRequests } from '../probe/plan/declared-requests.ts';
import { readManifestEntries } from '../probe/plan/find-resources.ts';
import { ManifestSales } from '../probe/plan/manifest-sales.ts';

/** A longer list is cut and marked incomplete. A patch made from it would leave some routes without a price. */
const MAX_PAID_ROUTES = 100;
/** Entries read per document. Each is compared with all templates. */
const MAX_ENTRIES_READ = 200;
const MAX_FREE_ROUTES = 20;
const MAX_OFFERS = 5;
const MAX_PATH_CHARS = 300;
const MAX_TEXT_CHARS = 100;
const MAX_DESCRIPTION_CHARS = 500;

/** Matches path parameters of OpenAPI and of routers: "{id}", ":id", "[id]", "*". */
const PARAMETER = /[{[*]|^:/;

type Draft = {
  method: string | null;
  readonly template: string | null;
  readonly path: string;
  /** The template, or the path if there is none. */
  readonly pattern: Pattern;
  challenge: Challenge | null;
};

const NO_OPERATIONS = { free: [], answered: [], unknown: [] };

export function findRoutes(sources: UnpricedSources, kit: Kit): RouteFacts {
  const openapi = kit.openapi(sources);
  const operations = openapi.state === 'found' ? openapi.facts.operations : [];
  const localOperations = operations.filter(({ elsewhere }) => elsewhere === null);
  const entries = readManifestEntries(kit.manifest(sources)).slice(0, MAX_ENTRIES_READ);
  const declared = new DeclaredRequests(localOperations);
  const sales = new ManifestSales(entries, declared, sources.origin.url, kit);
  // OpenAPI lists the operations. A manifest may call one of them free.
  const soldOperations = localOperations.filter((operation) => sales.isSold(operation));
  const routes = new RouteDrafts(localOperations);
  for (const { method, route, requestPath } of soldOperations) {
    routes.add({ method, template: removeQuery(route), path: requestPath, challenge: null });
  }
  for (const { template, method, declaredPaid } of sales.list()) {
    if (declaredPaid) routes.addDeclared(removeQuery(template), method);
  }
  const signIns = kit.signIns(sources.resources);
  for (const challenge of findChallenges(sources.resources, kit)) {
    const { resource } = challenge;
    const isRoute = resource.tool === undefined && !signIns.includes(resource);
    if (isRoute) routes.addChallenged(challenge);
  }
  const drafts = routes.listDrafts();
  const unpriced =
    openapi.state === 'found' ? kit.unpricedOperations(openapi.facts, sources) : NO_OPERATIONS;
  const toFreeRoutes = (chosen: readonly Operation[]) =>
    chosen
      .filter(({ elsewhere }) => elsewhere === null)
      .map(toFreeRoute)
      .filter(isShowable)
      .slice(0, MAX_FREE_ROUTES);
  return {
    paid: drafts.slice(0, MAX_PAID_ROUTES).map((draft) => toPaidRoute(draft, kit)),
    signIn: [
      ...localOperations.filter(({ paid, signIn }) => paid && signIn).map(toFreeRoute),
      ...signIns.map(({ method, template }) => ({ method: method ?? 'GET', template })),
    ]
      .filter(isShowable)
      .filter(isFirstOccurrence)
      .slice(0, MAX_FREE_ROUTES),
    free: toFreeRoutes(
      [...unpriced.free, ...unpriced.answered].filter((each) => !routes.isSold(each)),
    ),
    unknown: toFreeRoutes(unpriced.unknown.filter((each) => !routes.isPerhapsSold(each))),
    isComplete: drafts.length <= MAX_PAID_ROUTES && sources.resources.planFailure === undefined,
  };
}

export type RouteAnswer = {
  readonly method: string;
  readonly path: string;
  readonly answer: HttpData;
};

/** Describes a route that no document declares, by its challenge; null if the answer has none. */
export function readUndeclaredRoute({ method, path, answer }: RouteAnswer): ReportRoute | null {
  const kit = createKit();
  const { challenge } = kit.challenge(answer);
  const route = { method, template: null, path: removeQuery(path), challenge };
  return challenge === null ? null : toPaidRoute(route, kit);
}

type RouteChallenge = {
  readonly resource: ResourceObservation;
  readonly method: string;
  readonly challenge: Challenge | null;
};

class RouteDrafts {
  readonly #operations: readonly Pattern[];
  readonly #drafts: Draft[] = [];

  constructor(operations: readonly Operation[]) {
    this.#operations = operations.map(({ route }) => toPattern(route));
  }

  listDrafts(): readonly Draft[] {
    return this.#drafts;
  }

  isSold({ method, route }: Operation): boolean {
    const template = removeQuery(route);
    return this.#drafts.some((draft) => draft.template === template && draft.method === method);
  }

  /** True also for a route without a method, because each method of its path may be the sold one. */
  isPerhapsSold(operation: Operation): boolean {
    const template = removeQuery(operation.route);
    return (
      this.isSold(operation) ||
      this.#drafts.some((draft) => draft.template === template && draft.method === null)
    );
  }

  add(draft: Omit<Draft, 'pattern'>): void {
    if (this.#drafts.length >= MAX_ENTRIES_READ) return;
    this.#drafts.push({ ...draft, pattern: toPattern(draft.template ?? draft.path) });
  }

  /** A manifest lists addresses. An address that matches an OpenAPI template is not a separate route. */
  addDeclared(path: string, declaredMethod: string | null): void {
    const method = declaredMethod?.toUpperCase() ?? null;
    if (this.#find(path, method) !== undefined) return;
    const template = findTemplate(this.#operations, path) ?? path;
    this.add({ method, template, path, challenge: null });
  }

  /** Adds a challenge to the route of its address. A new route has no template if no document declares one. */
  addChallenged({ resource, method, challenge }: RouteChallenge): void {
    const path = removeQuery(resource.path);
    const draft = this.#find(path, method);
    if (draft === undefined)
      this.add({ method, template: this.#findTemplate(path), path, challenge });
    else {
      draft.method ??= method;
      draft.challenge ??= challenge;
    }
  }

  #find(path: string, method: string | null): Draft | undefined {
    const steps = path.split('/');
    return this.#drafts.find((draft) => {
      const isSameMethod = draft.method === method || draft.method === null || method === null;
      return isSameMethod && isMatch(draft.pattern, steps);
    });
  }

  #findTemplate(path: string): string | null {
    if (path === '/') return path; // as a path, the root would match "/{id}"
    const declared = this.#drafts.filter(({ template }) => template !== null);
    const patterns = declared.map(({ pattern }) => pattern);
    return findTemplate(patterns, path) ?? findTemplate(this.#operations, path);
  }
}

/** A template, split once, because it is compared with many paths. */
type Pattern = { readonly template: string; readonly steps: readonly string[] };

function toPattern(path: string): Pattern {
  const template = removeQuery(path);
  return { template, steps: template.split('/') };
}

function findTemplate(patterns: readonly Pattern[], path: string): string | null {
  const steps = path.split('/');
  return patterns.find((pattern) => isMatch(pattern, steps))?.template ?? null;
}

function isMatch({ steps }: Pattern, pathSteps: readonly string[]): boolean {
  if (steps.length !== pathSteps.length) return false;
  return steps.every((step, index) => step === pathSteps[index] || PARAMETER.test(step));
}

/** Lists the challenges that `allChallenged` chooses, then 402s of another protocol or with an unreadable challenge. */
function findChallenges(resources: ResourceSet, kit: Kit): readonly RouteChallenge[] {
  const challenged = kit.allChallenged(resources).map(({ resource, probe, reading }) => {
    return { resource, method: probe.method, challenge: reading.challenge };
  });
  const others = resources.probed.flatMap((resource) =>
    listFirstProbes(resource).flatMap(({ method, answer }) => {
      if (!answer.ok || answer.data.status !== 402) return [];
      const { challenge } = kit.challenge(answer.data);
      return challenge === null ? [{ resource, method, challenge }] : [];
    }),
  );
  return [...challenged, ...others];
}

function toFreeRoute({ method, route }: Operation): FreeRoute {
  return { method, template: removeQuery(route) };
}

function isShowable({ template }: FreeRoute): boolean {
  return toShownText(template, MAX_PATH_CHARS) === template;
}

function isFirstOccurrence(route: FreeRoute, index: number, all: readonly FreeRoute[]): boolean {
  const isSame = ({ method, template }: FreeRoute) =>
    method === route.method && template === route.template;
  return all.findIndex(isSame) === index;
}

function toPaidRoute(
  { method, template, path, challenge }: Omit<Draft, 'pattern'>,
  kit: Kit,
): ReportRoute {
  const isTemplateWhole = template !== null && toShownText(template, MAX_PATH_CHARS) === template;
  const [first] = jsonList(challenge?.value['accepts']);
  const resource = jsonObject(challenge?.version === 1 ? first : challenge?.value['resource']);
  return {
    method: toShownText(method, MAX_TEXT_CHARS),
    template: isTemplateWhole ? template : null,
    path: toShownText(path, MAX_PATH_CHARS) ?? '/',
    description: toShownText(challenge?.description, MAX_DESCRIPTION_CHARS),
    mimeType: toShownText(resource['mimeType'], MAX_TEXT_CHARS),
    offers: (challenge === null ? [] : kit.judgedOffers(challenge))
      .slice(0, MAX_OFFERS)
      .map(({ scheme, network, asset, amount, payTo }): ReportOffer => {
        const name = toShownText(network, MAX_TEXT_CHARS);
        return {
          scheme: toShownText(scheme, MAX_TEXT_CHARS),
          network: name === null ? null : toCaip2(name),
          asset: toShownText(asset, MAX_TEXT_CHARS),
          amount: toShownText(amount, MAX_TEXT_CHARS),
          payTo: toShownText(payTo, MAX_TEXT_CHARS),
        };
      }),
  };
}

function toShownText(value: JsonValue | undefined, maxChars: number): string | null {
  const text = jsonText(value);
  return text === null ? null : cleanText(text, maxChars).trim() || null;
}
