/** Values of patches: facts of a report, or placeholders in angle brackets. */
import type { FreeRoute, ReportOffer, ReportRoute, ScanReport } from '../model/report.ts';
import { cleanText } from '../parse/text/text.ts';
import { parseAmount, toDecimal } from '../parse/x402/amount.ts';
import { findKnownAsset, listKnownAssets } from '../parse/x402/assets.ts';
import { suggestNetwork } from '../parse/x402/networks.ts';
import { parseRouteTemplate, type RouteTemplate, writeRoute } from './route-template.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** The price in a token, as the SDKs take it. Our tables give `name` and `version` of its EIP-712 domain. */
export type PatchToken = {
  readonly asset: string;
  /** Base units. */
  readonly amount: string;
  readonly name: string;
  readonly version: string;
  /** True if the SDKs take this token for a price in dollars. */
  readonly isDefault: boolean;
};

export type PatchRoute = {
  /** Null if the report does not state the method. The patch then guards every method. */
  readonly method: Method | null;
  /** Null if no document declares the path. The code then has the undefined name ROUTE, so it does not run. */
  readonly template: RouteTemplate | null;
  /** Path of one request, to print in a comment. A note follows the path of a sign-in. Null if unsafe to print. */
  readonly example: string | null;
  /** Decimal dollars: "0.01" */
  readonly price: string;
  /** The token that the challenge named; null if our tables do not have its EIP-712 domain. */
  readonly token: PatchToken | null;
  /** CAIP-2 */
  readonly network: string;
  readonly payTo: string;
  readonly description: string;
  readonly mimeType: string;
};

export type PatchOperation = { readonly method: string; readonly template: RouteTemplate };

export type PatchValues = {
  /** "https://api.example.com" */
  readonly origin: string;
  readonly host: string;
  /** The sold routes; at least one. */
  readonly routes: NonEmpty<PatchRoute>;
  /** Sign-in routes. The same middleware guards them, so a patch without these routes would leave them unguarded. */
  readonly signIns: readonly PatchRoute[];
  /** At least one. */
  readonly freeOperations: NonEmpty<PatchOperation>;
  /** Nobody knows if these are paid or free, so no patch writes them: the seller must say it. */
  readonly unknownOperations: readonly PatchOperation[];
};

const PLACEHOLDER_ROUTE: PatchRoute = {
  method: 'GET',
  template: null,
  example: null,
  price: '<price>',
  token: null,
  network: '<network:id>',
  payTo: '<payTo>',
  description: '<what the route sells, at most 500 characters>',
  mimeType: 'application/json',
};

export const PLACEHOLDERS: PatchValues = {
  origin: '<https://your-domain>',
  host: '<your-domain>',
  routes: [PLACEHOLDER_ROUTE],
  signIns: [],
  freeOperations: [{ method: 'GET', template: [{ kind: 'text', text: '/<free route>' }] }],
  unknownOperations: [],
};

/** Chooses the placeholders for an explanation without a report. S5 is about POST resources. */
export function choosePlaceholders(checkId: string): PatchValues {
  return checkId === 'S5'
    ? { ...PLACEHOLDERS, routes: [{ ...PLACEHOLDER_ROUTE, method: 'POST' }] }
    : PLACEHOLDERS;
}

export type NamedRequest = { readonly method: string; readonly path: string };

/** The members of a saved report that we read. Older reports have no `routes`. */
export type PatchReport = Pick<ScanReport, 'origin' | 'routes'> & {
  /** The path that the caller of the command line named; reports of the service have none. */
  readonly named?: NamedRequest | null;
  readonly results: readonly Pick<ScanReport['results'][number], 'id' | 'outcome'>[];
};

const MAX_PATH_CHARS = 300;
/** The placeholder of a description names this limit. P8 judges by it. */
const MAX_DESCRIPTION_CHARS = 500;
const NETWORK_PATTERN = /^[a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32}$/;
const ADDRESS_PATTERN = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
const MIME_TYPE_PATTERN = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/i;

/**
 * Reads values from a report. A value that is missing, malformed, or has invisible characters stays a
 * placeholder. `publicOrigin` is the address that buyers use; null if the scanned address was local.
 */
export function readPatchValues(
  report: PatchReport,
  publicOrigin: string | null = report.origin,
): PatchValues {
  const hasOneRecipient = report.results.some(
    ({ id, outcome }) => id === 'P7' && outcome === 'consistent',
  );
  const { routes, named } = report;
  const { paid = [], signIn = [], free = [], unknown = [], isComplete = true } = routes ?? {};
  const soldRoutes = withSharedTerms(
    paid.map((route) => toPatchRoute(withNamedPath(route, named), hasOneRecipient)),
  );
  // If the documents sell nothing, the caller has named what should be sold.
  if (soldRoutes.length === 0 && named) soldRoutes.push(toNamedRoute(named));
  // The placeholder stands for sold routes that the report lacks.
  if (!isComplete) soldRoutes.push(PLACEHOLDER_ROUTE);
  return {
    ...toAddressValues(publicOrigin),
    routes: fillEmpty(soldRoutes, PLACEHOLDERS.routes),
    signIns: signIn.map(({ method, template }) => toSignInRoute(method, template)),
    freeOperations: fillEmpty(parseOperations(free), PLACEHOLDERS.freeOperations),
    unknownOperations: parseOperations(unknown),
  };
}

type NonEmpty<Item> = readonly [Item, ...Item[]];

function fillEmpty<Item>(list: readonly Item[], placeholders: NonEmpty<Item>): NonEmpty<Item> {
  const [first, ...others] = list;
  return first === undefined ? placeholders : [first, ...others];
}

/** The distinct networks of the routes. */
export function listNetworks(routes: readonly PatchRoute[]): readonly string[] {
  return [...new Set(routes.map(({ network }) => network))];
}

/** The virtual machine of the network, as the x402 packages name it. */
export function toMachine(network: string): 'evm' | 'svm' {
  return network.startsWith('solana:') ? 'svm' : 'evm';
}

/** Takes the path that the caller named as the template of its route, if no document declares one. */
function withNamedPath(route: ReportRoute, named: NamedRequest | null | undefined): ReportRoute {
  const isNamed = named?.method === route.method && named?.path === route.path;
  return isNamed && route.template === null
    ? { ...route, template: toPathname(route.path) }
    : route;
}

function toPathname(path: string): string {
  return path.replace(/\?.*/s, '');
}

function toPatchRoute(route: ReportRoute, hasOneRecipient: boolean): PatchRoute {
  const { description, mimeType } = route;
  // x402 version 2 names networks by CAIP-2 ids.
  const offer = route.offers
    .map((stated) => ({ ...stated, network: suggestNetwork(stated.network, 2) ?? stated.network }))
    .find(({ network }) => NETWORK_PATTERN.test(network ?? ''));
  const payTo = offer?.payTo ?? '';
  return {
    method: parseMethod(route.method),
    template: route.template === null ? null : parseCleanTemplate(route.template),
    example: toExample(route.path),
    ...toPrice(offer),
    network: offer?.network ?? PLACEHOLDER_ROUTE.network,
    // A report in which P7 finds a bad recipient gives no address to copy.
    payTo: hasOneRecipient && ADDRESS_PATTERN.test(payTo) ? payTo : PLACEHOLDER_ROUTE.payTo,
    description: description === null ? PLACEHOLDER_ROUTE.description : toOneLine(description),
    mimeType:
      mimeType !== null && MIME_TYPE_PATTERN.test(mimeType) ? mimeType : PLACEHOLDER_ROUTE.mimeType,
  };
}

/** A route without a challenge gets the network and recipient of the other routes, if these agree. */
function withSharedTerms(routes: readonly PatchRoute[]): PatchRoute[] {
  const findShared = (member: 'network' | 'payTo') => {
    const placeholder = PLACEHOLDER_ROUTE[member];
    const values = routes.map((route) => route[member]).filter((value) => value !== placeholder);
    const [first = placeholder, ...others] = new Set(values);
    return others.length === 0 ? first : placeholder;
  };
  const [network, payTo] = [findShared('network'), findShared('payTo')];
  return routes.map((route) => ({
    ...route,
    network: route.network === PLACEHOLDER_ROUTE.network ? network : route.network,
    payTo: route.payTo === PLACEHOLDER_ROUTE.payTo ? payTo : route.payTo,
  }));
}

/** A named path without a challenge: all terms are placeholders. */
function toNamedRoute({ method, path }: NamedRequest): PatchRoute {
  return {
    ...PLACEHOLDER_ROUTE,
    method: parseMethod(method),
    template: parseCleanTemplate(toPathname(path)),
    example: toExample(path),
  };
}

/** A report does not hold the settings of a sign-in. Without a template, the code does not run before the seller adds them. */
function toSignInRoute(method: string, template: string): PatchRoute {
  const example = toExample(template);
  return {
    ...PLACEHOLDER_ROUTE,
    method: parseMethod(method),
    example: example === null ? null : `${example}, with the settings of its sign-in`,
  };
}

function parseMethod(text: string | null): Method | null {
  return METHODS.find((method) => method === text) ?? null;
}

/** False if requests to the route have no body. A route of unknown method counts as GET. */
export function hasBody({ method }: Pick<PatchRoute, 'method'>): boolean {
  return method !== null && method !== 'GET' && method !== 'DELETE';
}

function parseOperations(operations: readonly FreeRoute[]): readonly PatchOperation[] {
  return operations.flatMap(({ method, template }) => {
    const parsed = parseCleanTemplate(template);
    return parsed === null ? [] : [{ method, template: parsed }];
  });
}

function parseCleanTemplate(path: string): RouteTemplate | null {
  return cleanText(path, MAX_PATH_CHARS) === path ? parseRouteTemplate(path) : null;
}

/** The path, if it is safe inside a line comment. */
function toExample(path: string): string | null {
  return /^\/[\w./~@?&=%{}:-]{0,299}$/.test(path) ? path : null;
}

function toOneLine(text: string): string {
  return cleanText(text, MAX_DESCRIPTION_CHARS).replace(/\s+/g, ' ').trim();
}

/** Returns placeholders for null and for a malformed origin. */
export function toAddressValues(origin: string | null): Pick<PatchValues, 'origin' | 'host'> {
  const url = origin === null ? null : URL.parse(origin);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.origin === origin;
  if (!isOrigin) return { origin: PLACEHOLDERS.origin, host: PLACEHOLDERS.host };
  return { origin: url.origin, host: url.hostname };
}

function toPrice(offer: ReportOffer | undefined): Pick<PatchRoute, 'price' | 'token'> {
  const amount = parseAmount(offer?.amount ?? undefined);
  const known = findKnownAsset(offer?.network ?? '', offer?.asset ?? '');
  if (amount === null || known === null) return { price: PLACEHOLDER_ROUTE.price, token: null };
  const price = toDecimal(amount, known.decimals);
  const { network, asset, domain } = known;
  if (domain === null) return { price, token: null };
  // Our table lists first the asset that the SDKs take for a price in dollars.
  const isDefault = listKnownAssets(network)[0]?.asset === asset;
  return { price, token: { asset, amount: String(amount), ...domain, isDefault } };
}

/** Returns "GET /weather/{city}", for documents and for tables of prices in the seller's code. */
export function nameRoute(route: PatchRoute): string {
  return route.method === null ? toOpenApiPath(route) : `${route.method} ${toOpenApiPath(route)}`;
}

export function toOpenApiPath({ template }: PatchRoute): string {
  return template === null ? '/<route>' : writeRoute(template, 'openapi');
}
