/** Collects paid routes from documents, indexes and answers. Pure; runs on a worker. */
import type { HttpObservation, Observations, ResourceObservation } from '../model/observations.ts';
import type { FreeRoute, ReportOffer, ReportRoute, RouteFacts } from '../model/report.ts';
import { type JsonValue, jsonList, jsonObject, jsonText } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { Operation } from '../parse/openapi/openapi.ts';
import { cleanText } from '../parse/text/text.ts';
import type { Challenge } from '../parse/x402/challenge.ts';
import { toCaip2 } from '../parse/x402/networks.ts';
import { findPathOnOrigin } from '../probe/plan/declared-requests.ts';

/** Lists above this are marked incomplete: a patch that names some of the routes leaves the others open. */
const MAX_PAID = 100;
/** Entries read per document; each is compared with all templates. */
const MAX_READ = 200;
const MAX_FREE = 20;
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
  challenge: Challenge | null;
};

export type RouteSources = Pick<
  Observations,
  | 'origin'
  | 'soft404'
  | 'openapi'
  | 'openapiAlternates'
  | 'manifest'
  | 'manifestJson'
  | 'resources'
  | 'x402scan'
>;

export function findRoutes(seen: RouteSources, kit: Kit): RouteFacts {
  const openapi = kit.openapi(seen);
  const operations = openapi.state === 'found' ? openapi.facts.operations : [];
  const here = operations.filter(({ elsewhere }) => elsewhere === null);
  const sold = here.filter(({ paid, signIn }) => paid && !signIn);
  const routes = new Routes(here);
  for (const { method, route, requestPath } of sold) {
    routes.declare({ method, template: withoutQuery(route), path: requestPath, challenge: null });
  }
  for (const { target, method } of manifestEntries(seen, kit)) {
    const path = findPathOnOrigin(seen.origin.url, target, kit);
    if (path !== null) routes.declareUnlessKnown(withoutQuery(path), method);
  }
  const signIns = kit.signIns(seen.resources);
  for (const resource of seen.resources.probed) {
    if (resource.tool === undefined && !signIns.includes(resource)) {
      for (const challenge of findChallenges(resource, kit)) routes.see(resource, challenge);
    }
  }
  for (const { resource, method } of indexed(seen)) {
    const path = findPathOnOrigin(seen.origin.url, resource, kit);
    const isAsked = seen.resources.probed.some((one) => one.path === path);
    if (path !== null && !isAsked) routes.meet(withoutQuery(path), method);
  }
  const paid = routes.all();
  return {
    paid: paid.slice(0, MAX_PAID).map((draft) => toPaidRoute(draft, kit)),
    signIn: [
      ...here.filter(({ paid: isPaid, signIn }) => isPaid && signIn).map(toFreeRoute),
      ...signIns.map(({ method, template }) => ({ method: method ?? 'GET', template })),
    ]
      .filter(isShowable)
      .filter(isFirst)
      .slice(0, MAX_FREE),
    free: here
      .filter((one) => !one.paid && !one.hasOwnSecurity && !routes.isSold(one))
      .map(toFreeRoute)
      .filter(isShowable)
      .slice(0, MAX_FREE),
    isComplete: paid.length <= MAX_PAID && seen.resources.planFailure === undefined,
  };
}

type RouteChallenge = { readonly method: string; readonly challenge: Challenge | null };

class Routes {
  readonly #operations: readonly Pattern[];
  readonly #patterns = new Map<Draft, Pattern>();
  readonly #drafts: Draft[] = [];

  constructor(operations: readonly Operation[]) {
    this.#operations = operations.map(({ route }) => toPattern(route));
  }

  all(): readonly Draft[] {
    return this.#drafts;
  }

  isSold({ method, route }: Operation): boolean {
    const template = withoutQuery(route);
    return this.#drafts.some((one) => one.template === template && one.method === method);
  }

  declare(draft: Draft): void {
    if (this.#drafts.length >= MAX_READ) return;
    this.#drafts.push(draft);
    this.#patterns.set(draft, toPattern(draft.template ?? draft.path));
  }

  /** A manifest lists addresses; one that matches an OpenAPI template is not a separate route. */
  declareUnlessKnown(path: string, named: string | null): void {
    const method = named?.toUpperCase() ?? null;
    if (this.#find(path, method) !== undefined) return;
    const template = findTemplate(this.#operations, path) ?? path;
    this.declare({ method, template, path, challenge: null });
  }

  /** An index lists addresses that somebody called; only a declared template identifies the route. */
  meet(path: string, named: string | null): Draft {
    const method = named?.toUpperCase() ?? null;
    const known = this.#find(path, method);
    if (known !== undefined) return known;
    const draft = { method, template: this.#templateOf(path), path, challenge: null };
    this.declare(draft);
    return draft;
  }

  see(resource: ResourceObservation, { method, challenge }: RouteChallenge): void {
    const draft = this.meet(withoutQuery(resource.path), method);
    draft.method ??= method;
    draft.challenge ??= challenge;
  }

  #find(path: string, method: string | null): Draft | undefined {
    const steps = path.split('/');
    return this.#drafts.find((one) => {
      const isMethod = one.method === method || one.method === null || method === null;
      const pattern = this.#patterns.get(one);
      return isMethod && pattern !== undefined && stands(pattern, steps);
    });
  }

  #templateOf(path: string): string | null {
    if (path === '/') return path;
    const declared = this.#drafts.filter(({ template }) => template !== null);
    const patterns = declared.flatMap((one) => this.#patterns.get(one) ?? []);
    return findTemplate(patterns, path) ?? findTemplate(this.#operations, path);
  }
}

/** Split once, because a template is compared with many paths. */
type Pattern = { readonly template: string; readonly steps: readonly string[] };

function toPattern(path: string): Pattern {
  const template = withoutQuery(path);
  return { template, steps: template.split('/') };
}

function findTemplate(patterns: readonly Pattern[], path: string): string | null {
  const steps = path.split('/');
  return patterns.find((one) => stands(one, steps))?.template ?? null;
}

/** Returns true when the template matches the path. */
function stands({ steps }: Pattern, path: readonly string[]): boolean {
  if (steps.length !== path.length) return false;
  return steps.every((step, index) => step === path[index] || PARAMETER.test(step));
}

function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? path;
}

function findChallenges({ probes }: ResourceObservation, kit: Kit): readonly RouteChallenge[] {
  return probes
    .filter(({ method, number, answer }) => number === 1 && method !== 'HEAD' && is402(answer))
    .map(({ method, answer }) => ({
      method,
      challenge: answer.ok ? kit.challenge(answer.data).challenge : null,
    }));
}

function is402(answer: HttpObservation): boolean {
  return answer.ok && answer.data.status === 402;
}

function manifestEntries(seen: RouteSources, kit: Kit) {
  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found' || manifest.facts.shape === 'unknown') return [];
  return manifest.facts.entries.slice(0, MAX_READ);
}

function indexed({ x402scan }: RouteSources) {
  if (x402scan.state !== 'seen') return [];
  return x402scan.data.resources.filter(({ deprecated }) => !deprecated).slice(0, MAX_READ);
}

function toFreeRoute({ method, route }: Operation): FreeRoute {
  return { method, template: withoutQuery(route) };
}

function isShowable({ template }: FreeRoute): boolean {
  return shown(template, MAX_PATH_CHARS) === template;
}

function isFirst(route: FreeRoute, index: number, all: readonly FreeRoute[]): boolean {
  const same = (one: FreeRoute) => one.method === route.method && one.template === route.template;
  return all.findIndex(same) === index;
}

function toPaidRoute({ method, template, path, challenge }: Draft, kit: Kit): ReportRoute {
  const isWhole = template !== null && shown(template, MAX_PATH_CHARS) === template;
  const [first] = jsonList(challenge?.value['accepts']);
  const resource = jsonObject(challenge?.version === 1 ? first : challenge?.value['resource']);
  return {
    method: shown(method, MAX_TEXT_CHARS),
    template: isWhole ? template : null,
    path: shown(path, MAX_PATH_CHARS) ?? '/',
    description: shown(challenge?.description, MAX_DESCRIPTION_CHARS),
    mimeType: shown(resource['mimeType'], MAX_TEXT_CHARS),
    offers: (challenge === null ? [] : kit.judgedOffers(challenge))
      .slice(0, MAX_OFFERS)
      .map(({ scheme, network, asset, amount, payTo }): ReportOffer => {
        const name = shown(network, MAX_TEXT_CHARS);
        return {
          scheme: shown(scheme, MAX_TEXT_CHARS),
          network: name === null ? null : toCaip2(name),
          asset: shown(asset, MAX_TEXT_CHARS),
          amount: shown(amount, MAX_TEXT_CHARS),
          payTo: shown(payTo, MAX_TEXT_CHARS),
        };
      }),
  };
}

function shown(value: JsonValue | undefined, maxChars: number): string | null {
  const text = jsonText(value);
  return text === null ? null : cleanText(text, maxChars).trim() || null;
}
