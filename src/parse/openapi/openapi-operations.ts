import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../json/json.ts';
import { createRefResolver, escapePointerStep, type RefResolver } from '../json/json-pointer.ts';
import { hasPathParameters, needsParameters, serverPlace, toRequestPath } from './openapi-path.ts';
import {
  isDeclaredFree,
  type PriceDeclaration,
  readPrice,
  readProtocols,
} from './openapi-price.ts';

export type Operation = {
  /** Upper case. */
  readonly method: string;
  /** The path as written: "/users/{id}". */
  readonly template: string;
  /** JSON pointer of the operation: "/paths/~1weather/get". */
  readonly pointer: string;
  /** The server's base path followed by the template. */
  readonly route: string;
  /** Path and query to request, with the base path and required query parameters filled in. */
  readonly requestPath: string;
  /** True when a value in `requestPath` is declared nowhere. */
  readonly isMadeUp: boolean;
  readonly hasPathParameters: boolean;
  readonly hasRequiredParameters: boolean;
  /** Effective security requirements (operation overrides root); null when neither declares any. */
  readonly security: readonly JsonObject[] | null;
  /** True when the operation itself declares security, whatever the root has. */
  readonly hasOwnSecurity: boolean;
  readonly declares402: boolean;
  readonly paymentInfo: JsonObject | null;
  /** Form of `protocols` in x-payment-info: objects are the structured form, strings the legacy one. */
  readonly protocols: 'objects' | 'strings' | 'missing';
  readonly protocolNames: readonly string[];
  readonly price: PriceDeclaration | null;
  /** True with x-payment-info or a 402 response. */
  readonly paid: boolean;
  /** True for a 402 that asks for a sign-in: no price, and only login schemes (siwx, bearer). */
  readonly signIn: boolean;
  /** Origin of its servers, when none of them is the document's; null otherwise. */
  readonly elsewhere: string | null;
};

/**
 * One path item may serve thousands of paths (`$ref`). Reading each is bounded, or a small document would
 * cost the product of its parts.
 */
const MAX_PATHS = 2_000;
const MAX_OPERATIONS = 4_000;
const MAX_LIST = 100;
const MAX_NAME_CHARS = 200;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Position of an operation: the document, its path item, its parameters. */
type Place = {
  readonly root: JsonObject;
  readonly follow: RefResolver;
  readonly documentUrl: string;
  readonly template: string;
  readonly item: JsonObject;
  readonly parametersOf: ParameterReader;
  readonly isLogin: LoginReader;
};

type ParameterReader = (list: JsonValue | undefined) => readonly JsonObject[];

export type SourcedOperation = { readonly operation: Operation; readonly source: JsonObject };

/** Returns operations in document order, each with its source object. */
export function readOperations(root: JsonObject, documentUrl: string): readonly SourcedOperation[] {
  const paths = Object.entries(jsonObject(root['paths']))
    .filter(([template]) => template.startsWith('/'))
    .slice(0, MAX_PATHS);
  const follow = createRefResolver(root);
  const parametersOf = parameterReader(follow);
  const isLogin = loginReader(root, follow);
  const operations: SourcedOperation[] = [];
  for (const [template, value] of paths) {
    const item = pathItem(value, follow);
    const place = { root, follow, documentUrl, template, item, parametersOf, isLogin };
    for (const method of METHODS) {
      const source = item[method];
      if (!isJsonObject(source) || operations.length >= MAX_OPERATIONS) continue;
      operations.push({ operation: toOperation(place, method, source), source });
    }
  }
  return operations;
}

/** Members beside a `$ref` override those of its target. */
function pathItem(value: JsonValue | undefined, follow: RefResolver): JsonObject {
  const own = jsonObject(value);
  if (own['$ref'] === undefined) return own;
  const named = jsonObject(follow(own));
  const members = [...METHODS, 'parameters', 'servers'].map((name) => [
    name,
    own[name] ?? named[name],
  ]);
  return Object.fromEntries(members);
}

function toOperation(place: Place, method: string, source: JsonObject): Operation {
  const { root, follow, template, item, parametersOf } = place;
  const pointer = `/paths/${escapePointerStep(template)}/${method}`;
  const info = source['x-payment-info'] ?? undefined;
  const parameters = merge(parametersOf(item['parameters']), parametersOf(source['parameters']));
  const servers = [source, item, root].map((one) => jsonList(one['servers']));
  const effective = servers.find((list) => isJsonObject(list[0])) ?? [];
  const server = serverPlace(effective, place.documentUrl);
  const security = readSecurity(source) ?? readSecurity(root);
  const responses = jsonObject(follow(source['responses']));
  const declares402 = responses['402'] !== undefined;
  const basePath = server.kind === 'own' ? server.basePath : '';
  const request = toRequestPath(basePath, template, parameters, follow);
  return {
    method: method.toUpperCase(),
    template,
    pointer,
    route: `${basePath}${template}`,
    requestPath: request.path,
    isMadeUp: request.isMadeUp,
    hasPathParameters: hasPathParameters(template),
    hasRequiredParameters: needsParameters(parameters),
    security,
    hasOwnSecurity: (readSecurity(source) ?? []).length > 0,
    declares402,
    paymentInfo: isJsonObject(info) ? info : null,
    ...readProtocols(info),
    price: readPrice(info, pointer),
    paid: declares402 || (isDeclared(info) && !isDeclaredFree(info)),
    signIn: declares402 && info === undefined && place.isLogin(security),
    elsewhere: server.kind === 'elsewhere' ? server.origin : null,
  };
}

function isDeclared(info: JsonValue | undefined): boolean {
  return info !== undefined && info !== false;
}

function readSecurity(owner: JsonObject): readonly JsonObject[] | null {
  const security = owner['security'];
  return isJsonList(security) ? security.slice(0, MAX_LIST).filter(isJsonObject) : null;
}

type LoginReader = (security: readonly JsonObject[] | null) => boolean;

/** True when security names schemes and none of them can mean payment (x402, apiKey). */
function loginReader(root: JsonObject, follow: RefResolver): LoginReader {
  const declared = jsonObject(jsonObject(root['components'])['securitySchemes']);
  const known = new Map<string, boolean>();
  const isLogin = (name: string): boolean => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const { type, scheme } = jsonObject(
      Object.hasOwn(declared, name) ? follow(declared[name]) : {},
    );
    const isX402 = /^x402$/i.test(name) || /^x402$/i.test(jsonText(scheme) ?? '');
    known.set(name, !isX402 && type !== 'apiKey');
    return !isX402 && type !== 'apiKey';
  };
  return (security) => {
    const names = (security ?? []).flatMap((one) => Object.keys(one).slice(0, MAX_LIST));
    return names.length > 0 && names.every(isLogin);
  };
}

/** Cached, because thousands of operations share one list through a `$ref`. */
function parameterReader(follow: RefResolver): ParameterReader {
  const known = new Map<JsonValue | undefined, readonly JsonObject[]>();
  return (list) => {
    const before = known.get(list);
    if (before !== undefined) return before;
    const parameters = jsonList(list).slice(0, MAX_LIST).map(follow).filter(isJsonObject);
    known.set(list, parameters);
    return parameters;
  };
}

/** An operation's parameter overrides the path item's with the same `name` and `in`. */
function merge(shared: readonly JsonObject[], own: readonly JsonObject[]): readonly JsonObject[] {
  if (own.length === 0 || shared.length === 0) return [...own, ...shared];
  const keys = new Set(own.map(toKey));
  return [...own, ...shared.filter((parameter) => !keys.has(toKey(parameter)))];
}

/** Keys use the start of the name, because thousands of operations may share a long one. */
function toKey(parameter: JsonObject): string {
  const name = jsonText(parameter['name']) ?? '';
  return `${jsonText(parameter['in'])?.slice(0, MAX_NAME_CHARS)} ${name.slice(0, MAX_NAME_CHARS)}`;
}
