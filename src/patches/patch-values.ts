/** Values of patches: facts of a report, or placeholders in angle brackets. */

import type { ReportOffer, ReportRoute, ScanReport } from '../model/report.ts';
import { cleanText } from '../parse/text/text.ts';
import { parseAmount } from '../parse/x402/amount.ts';
import { findKnownAsset } from '../parse/x402/assets.ts';
import {
  hasParameters,
  parseRouteTemplate,
  type RouteTemplate,
  writeRoute,
} from './route-template.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export type PatchRoute = {
  /** Null if it is unknown; the patch then guards every method. */
  readonly method: Method | null;
  /** Null if no document declares it; the code then has a name that does not compile. */
  readonly template: RouteTemplate | null;
  /** A request of the route, as a hint for the reader; null if it is unsafe to print. */
  readonly example: string | null;
  /** Decimal dollars: "0.01" */
  readonly price: string;
  /** CAIP-2 */
  readonly network: string;
  readonly payTo: string;
  readonly description: string;
  readonly mimeType: string;
};

export type FreeOperation = { readonly method: string; readonly template: RouteTemplate };

export type PatchValues = {
  /** "https://api.example.com" */
  readonly origin: string;
  readonly host: string;
  /** The sold routes; at least one. */
  readonly routes: readonly [PatchRoute, ...PatchRoute[]];
  /** Sign-in routes, guarded by the same middleware; a patch without them would leave them open. */
  readonly signIns: readonly PatchRoute[];
  /** Free operations; at least one. */
  readonly free: readonly [FreeOperation, ...FreeOperation[]];
};

const SOLD: PatchRoute = {
  method: 'GET',
  template: null,
  example: null,
  price: '<price>',
  network: '<network:id>',
  payTo: '<payTo>',
  description: '<what the route sells, at most 500 characters>',
  mimeType: 'application/json',
};

export const PLACEHOLDERS: PatchValues = {
  origin: '<https://your-domain>',
  host: '<your-domain>',
  routes: [SOLD],
  signIns: [],
  free: [{ method: 'GET', template: [{ kind: 'text', text: '/<free route>' }] }],
};

/** Placeholders for an explanation without a report. S5 is about POST resources. */
export function placeholderValues(checkId: string): PatchValues {
  return checkId === 'S5'
    ? { ...PLACEHOLDERS, routes: [{ ...SOLD, method: 'POST' }] }
    : PLACEHOLDERS;
}

/** The members of a saved report that are read; older reports have no routes. */
export type PatchReport = Pick<ScanReport, 'origin' | 'routes'> & {
  readonly results: readonly Pick<ScanReport['results'][number], 'id' | 'outcome'>[];
};

const MAX_CHARS = 300;
const NETWORK = /^[a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32}$/;
const ADDRESS = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
const MIME_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/i;

/**
 * A value that is missing, malformed, or has invisible characters stays a placeholder. `publicOrigin` is
 * the address that buyers use; null if the scanned one was local.
 */
export function readPatchValues(
  report: PatchReport,
  publicOrigin: string | null = report.origin,
): PatchValues {
  const isOne = report.results.some(({ id, outcome }) => id === 'P7' && outcome === 'consistent');
  const { paid = [], signIn = [], free = [], isComplete = true } = report.routes ?? {};
  const sold = withSharedTerms(paid.map((route) => soldRoute(route, isOne)));
  const [first, ...others] = [...sold, ...(isComplete ? [] : [SOLD])];
  const [firstFree, ...otherFree] = free.flatMap(({ method, template }) => {
    const parsed = templateOf(template);
    return parsed === null ? [] : [{ method, template: parsed }];
  });
  return {
    ...PLACEHOLDERS,
    ...addressValues(publicOrigin),
    ...(first === undefined ? {} : { routes: [first, ...others] }),
    signIns: signIn.map(({ method, template }) => signInRoute(method, template)),
    ...(firstFree === undefined ? {} : { free: [firstFree, ...otherFree] }),
  };
}

/** Every route that the middleware has to list, by the name of its configuration. */
export function nameGuardedRoutes({ routes, signIns }: PatchValues) {
  const guarded = [...routes, ...signIns];
  return guarded.map((route, index) => {
    return { name: guarded.length === 1 ? 'sold' : `sold${index + 1}`, route };
  });
}

/** The distinct networks of the routes. */
export function listNetworks({ routes }: PatchValues): readonly string[] {
  return [...new Set(routes.map(({ network }) => network))];
}

/** The URL that buyers use; null if it depends on the request's parameters. */
export function toResourceUrl({ origin }: PatchValues, { template }: PatchRoute): string | null {
  if (template === null || hasParameters(template)) return null;
  return origin + template.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

/** The keys of a route in a middleware. Routers run the GET handler for HEAD too, so both are guarded. */
export function guardedKeys({ method }: PatchRoute, path: string): readonly string[] {
  if (method === null) return [path];
  const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
  return methods.map((one) => `${one} ${path}`);
}

export function isSolana(network: string): boolean {
  return network.startsWith('solana:');
}

function soldRoute(route: ReportRoute, isOneRecipient: boolean): PatchRoute {
  const { description, mimeType } = route;
  const offer = route.offers.find(({ network }) => NETWORK.test(network ?? ''));
  const payTo = offer?.payTo ?? '';
  return {
    method: METHODS.find((method) => method === route.method) ?? null,
    template: route.template === null ? null : templateOf(route.template),
    example: exampleOf(route.path),
    price: priceOf(offer) ?? SOLD.price,
    network: offer?.network ?? SOLD.network,
    // A report in which P7 finds a bad recipient gives no address to copy.
    payTo: isOneRecipient && ADDRESS.test(payTo) ? payTo : SOLD.payTo,
    description: description === null ? SOLD.description : oneLine(description),
    mimeType: mimeType !== null && MIME_TYPE.test(mimeType) ? mimeType : SOLD.mimeType,
  };
}

/** A route without a challenge gets the others' network and recipient if those agree. */
function withSharedTerms(routes: readonly PatchRoute[]): readonly PatchRoute[] {
  const only = (known: readonly string[], none: string) => {
    const [first = none, ...others] = new Set(known.filter((one) => one !== none));
    return others.length === 0 ? first : none;
  };
  const network = only(
    routes.map((one) => one.network),
    SOLD.network,
  );
  const payTo = only(
    routes.map((one) => one.payTo),
    SOLD.payTo,
  );
  return routes.map((one) => ({
    ...one,
    network: one.network === SOLD.network ? network : one.network,
    payTo: one.payTo === SOLD.payTo ? payTo : one.payTo,
  }));
}

/** A report does not hold the middleware's configuration for sign-ins. */
function signInRoute(method: string, template: string): PatchRoute {
  const example = exampleOf(template);
  return {
    ...SOLD,
    method: METHODS.find((name) => name === method) ?? null,
    example: example === null ? null : `${example}, as its sign-in has it`,
  };
}

function templateOf(path: string): RouteTemplate | null {
  return cleanText(path, MAX_CHARS) === path ? parseRouteTemplate(path) : null;
}

/** Safe inside a line comment: it has no line break. */
function exampleOf(path: string): string | null {
  return /^\/[\w./~@?&=%{}:-]{0,299}$/.test(path) ? path : null;
}

function oneLine(text: string): string {
  return cleanText(text, 500).replace(/\s+/g, ' ').trim();
}

/** Placeholders for null and for a malformed origin. */
export function addressValues(origin: string | null): Pick<PatchValues, 'origin' | 'host'> {
  const url = origin === null ? null : URL.parse(origin);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.origin === origin;
  const { origin: noOrigin, host: noHost } = PLACEHOLDERS;
  return isOrigin ? { origin: url.origin, host: url.hostname } : { origin: noOrigin, host: noHost };
}

function priceOf(offer: ReportOffer | undefined): string | null {
  const amount = parseAmount(offer?.amount ?? undefined);
  const asset = findKnownAsset(offer?.network ?? '', offer?.asset ?? '');
  if (amount === null || asset === null) return null;
  const digits = String(amount).padStart(asset.decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, -asset.decimals), digits.slice(-asset.decimals)];
  const decimals = fraction.replace(/0+$/, '');
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

/** "GET /weather/{city}", for documents and for keys that no middleware reads. */
export function nameRoute(route: PatchRoute): string {
  return route.method === null ? toOpenApiPath(route) : `${route.method} ${toOpenApiPath(route)}`;
}

/** ROUTE stays undefined on purpose: code with an invented path would run and leave the real route unpaid. */
export function unknownRoute({ example }: PatchRoute): string {
  const suffix = example === null ? '' : ` behind ${example}`;
  return `<route>${suffix}: define ROUTE as your router has it; nothing runs before`;
}

/** The path as OpenAPI writes it. */
export function toOpenApiPath({ template }: PatchRoute): string {
  return template === null ? '/<route>' : writeRoute(template, 'openapi');
}
