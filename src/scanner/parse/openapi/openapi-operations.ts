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
import { findPaymentInfoSign, type PriceSign } from '../text/stated-price.ts';
import { hasPathParameters, selectServer, toRequestPath } from './openapi-path.ts';
import {
  findPaymentInfo,
  type PriceDeclaration,
  type Protocols,
  readPrice,
  readProtocols,
} from './openapi-price.ts';

export type Operation = Protocols & {
  /** Upper case. */
  readonly method: string;
  /** The path as the document has it: "/users/{id}". */
  readonly template: string;
  /** JSON pointer of the operation: "/paths/~1weather/get". */
  readonly pointer: string;
  /** The server's base path followed by the template. */
  readonly route: string;
  /** Path and query of a request: with the base path, and with values for all required parameters. */
  readonly requestPath: string;
  /** True if the document declares no value for a parameter, so `requestPath` has a made-up value. */
  readonly isMadeUp: boolean;
  readonly hasPathParameters: boolean;
  /** True if a request needs parameters outside the path. */
  readonly hasRequiredParameters: boolean;
  /** Security requirements of the operation, or else of the root; null if neither declares any. */
  readonly security: readonly JsonObject[] | null;
  readonly hasOwnSecurity: boolean;
  readonly declares402: boolean;
  /** x-payment-info, or the member that states the price in its place; null if it is not an object. */
  readonly paymentInfo: JsonObject | null;
  readonly price: PriceDeclaration | null;
  /** Sign of the price in x-payment-info, in any form. */
  readonly priceSign: PriceSign;
  /** True if x-payment-info has a price of nothing, or if security is empty, without 402 and x-payment-info. */
  readonly free: boolean;
  /** True if the operation declares a 402 response or payment information, without a price of nothing. */
  readonly paid: boolean;
  /** True if x-payment-info says that a call costs nothing. */
  readonly costsNothing: boolean;
  /** True if a 402 response asks for a sign-in: x-payment-info is missing, and security names only login schemes. */
  readonly signIn: boolean;
  /** Origin of the first public server, if no server is on the document's origin; null otherwise. */
  readonly elsewhere: string | null;
  /** JSON pointer of the server that names a machine of the reader and was taken for this origin; null without one. */
  readonly localServer: string | null;
};

/**
 * Thousands of paths may have a `$ref` to one large path item. Without these limits, the work for a small document
 * could be the number of paths times the size of that item.
 */
const MAX_PATHS = 2_000;
const MAX_OPERATIONS = 4_000;
const MAX_LIST_ITEMS = 100;
const MAX_KEY_CHARS = 200;
const HTTP_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** The facts that all operations of a path item share. */
type PathContext = {
  readonly root: JsonObject;
  readonly resolveRef: RefResolver;
  readonly documentUrl: string;
  readonly template: string;
  readonly item: JsonObject;
  readonly readParameters: ParameterReader;
  readonly isLogin: LoginTest;
};

/** Returns true if security names schemes, and none of them means payment. */
export type LoginTest = (security: readonly JsonObject[] | null) => boolean;

type ParameterReader = (list: JsonValue | undefined) => readonly JsonObject[];

type SourcedOperation = { readonly operation: Operation; readonly source: JsonObject };

/** Returns operations in the order of the document, each with the object that declares it. */
export function readOperations(
  root: JsonObject,
  documentUrl: string,
  isLogin: LoginTest,
): readonly SourcedOperation[] {
  const paths = Object.entries(jsonObject(root['paths']))
    .filter(([template]) => template.startsWith('/'))
    .slice(0, MAX_PATHS);
  const resolveRef = createRefResolver(root);
  const readParameters = createParameterReader(resolveRef);
  const operations: SourcedOperation[] = [];
  for (const [template, value] of paths) {
    const item = readPathItem(value, resolveRef);
    const context = { root, resolveRef, documentUrl, template, item, readParameters, isLogin };
    for (const method of HTTP_METHODS) {
      const source = item[method];
      if (!isJsonObject(source) || operations.length >= MAX_OPERATIONS) continue;
      operations.push({ operation: toOperation(context, method, source), source });
    }
  }
  return operations;
}

/** Members beside a `$ref` override the members of the `$ref`'s target. */
function readPathItem(value: JsonValue | undefined, resolveRef: RefResolver): JsonObject {
  const item = jsonObject(value);
  if (item['$ref'] === undefined) return item;
  const target = jsonObject(resolveRef(item));
  const names = [...HTTP_METHODS, 'parameters', 'servers', 'x-payment-info'];
  return Object.fromEntries(names.map((name) => [name, item[name] ?? target[name]]));
}

function toOperation(context: PathContext, method: string, source: JsonObject): Operation {
  const { root, resolveRef, documentUrl, template, item, readParameters } = context;
  const itemPointer = `/paths/${escapePointerStep(template)}`;
  const pointer = `${itemPointer}/${method}`;
  const sharedParameters = readParameters(item['parameters']);
  const parameters = mergeParameters(sharedParameters, readParameters(source['parameters']));
  const ownLevel = { declaring: source, pointer };
  const itemLevel = { declaring: item, pointer: itemPointer };
  const { basePath, elsewhere, localServer } = readServers(documentUrl, [
    ownLevel,
    itemLevel,
    { declaring: root, pointer: '' },
  ]);
  const ownSecurity = readSecurity(source);
  const security = ownSecurity ?? readSecurity(root);
  const responses = jsonObject(resolveRef(source['responses']));
  const declares402 = responses['402'] !== undefined;
  const saysFree = security?.length === 0 && !declares402;
  const paymentInfo = findPaymentInfo(ownLevel, itemLevel, saysFree);
  const { info, sellsCall } = paymentInfo;
  // A POST with an "x-price" may order goods. It counts as paid only if something else says so.
  const isPriced = info !== undefined && info !== false && (sellsCall || method === 'get');
  const priceSign = findPaymentInfoSign(info);
  const request = toRequestPath(basePath, template, parameters, resolveRef);
  return {
    method: method.toUpperCase(),
    template,
    pointer,
    route: `${basePath}${template}`,
    requestPath: request.path,
    isMadeUp: request.isMadeUp,
    hasPathParameters: hasPathParameters(template),
    hasRequiredParameters: parameters.some(
      ({ in: location, required }) => location !== 'path' && required === true,
    ),
    security,
    hasOwnSecurity: (ownSecurity ?? []).length > 0,
    declares402,
    paymentInfo: isJsonObject(info) ? info : null,
    ...readProtocols(info),
    price: readPrice(paymentInfo),
    priceSign,
    free: priceSign === 'zero' || (saysFree && info === undefined),
    paid: priceSign !== 'zero' && (declares402 || isPriced),
    costsNothing: info === false || priceSign === 'zero',
    signIn: declares402 && info === undefined && context.isLogin(security),
    elsewhere,
    localServer,
  };
}

type ServerLevel = { readonly declaring: JsonObject; readonly pointer: string };

/** The first level that declares servers decides. `levels` goes from the operation to the root of the document. */
function readServers(
  documentUrl: string,
  levels: readonly ServerLevel[],
): Pick<Operation, 'elsewhere' | 'localServer'> & { readonly basePath: string } {
  const level = levels.find(({ declaring }) => isJsonObject(jsonList(declaring['servers'])[0]));
  const servers = jsonList(level?.declaring['servers']);
  const { localIndex, ...target } = selectServer(servers, documentUrl);
  const localServer = localIndex === null ? null : `${level?.pointer ?? ''}/servers/${localIndex}`;
  return { ...target, localServer };
}

function readSecurity(declaring: JsonObject): readonly JsonObject[] | null {
  const security = declaring['security'];
  return isJsonList(security) ? security.slice(0, MAX_LIST_ITEMS).filter(isJsonObject) : null;
}

/** Caches each list, because thousands of operations may share one list through a `$ref`. */
function createParameterReader(resolveRef: RefResolver): ParameterReader {
  const results = new Map<JsonValue | undefined, readonly JsonObject[]>();
  return (list) => {
    const cached = results.get(list);
    if (cached !== undefined) return cached;
    const parameters = jsonList(list).slice(0, MAX_LIST_ITEMS).map(resolveRef).filter(isJsonObject);
    results.set(list, parameters);
    return parameters;
  };
}

/** A parameter of the operation overrides a parameter of the path item with the same `name` and `in`. */
function mergeParameters(
  shared: readonly JsonObject[],
  own: readonly JsonObject[],
): readonly JsonObject[] {
  if (own.length === 0 || shared.length === 0) return [...own, ...shared];
  const keys = new Set(own.map(toKey));
  return [...own, ...shared.filter((parameter) => !keys.has(toKey(parameter)))];
}

/** The key has only the start of a name, because thousands of operations may share a parameter with a long name. */
function toKey(parameter: JsonObject): string {
  const name = jsonText(parameter['name']) ?? '';
  return `${jsonText(parameter['in'])?.slice(0, MAX_KEY_CHARS)} ${name.slice(0, MAX_KEY_CHARS)}`;
}
