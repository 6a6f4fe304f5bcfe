import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
} from './json.ts';
import { followRef, pointerStep } from './json-pointer.ts';
import {
  hasPathParameters,
  needsParameters,
  requestPathOf,
  serverBasePath,
} from './openapi-path.ts';
import {
  isDeclaredFree,
  type PriceDeclaration,
  readPrice,
  readProtocols,
} from './openapi-price.ts';

export type Operation = {
  /** Upper case. */
  readonly method: string;
  /** As written: "/users/{id}". */
  readonly template: string;
  /** JSON pointer of the operation: "/paths/~1weather/get". */
  readonly pointer: string;
  /** Path and query to request, with server base path and path parameters filled from examples. */
  readonly requestPath: string;
  readonly hasPathParameters: boolean;
  readonly hasRequiredParameters: boolean;
  /** Effective security requirements (operation overrides root): null where neither declares any. */
  readonly security: readonly JsonObject[] | null;
  readonly declares402: boolean;
  readonly paymentInfo: JsonObject | null;
  /** `protocols` of x-payment-info: objects are the structured form, strings the legacy one. */
  readonly protocols: 'objects' | 'strings' | 'missing';
  readonly protocolNames: readonly string[];
  readonly price: PriceDeclaration | null;
  /** x-payment-info or a 402 response. */
  readonly paid: boolean;
};

/**
 * One path item may stand for thousands of paths (`$ref`), so what is read of each is bounded, or a
 * small document would cost the product of its parts.
 */
const MAX_PATHS = 2_000;
const MAX_OPERATIONS = 4_000;
const MAX_LIST = 100;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Where an operation stands: the document, its path item, its parameters. */
type Place = {
  readonly root: JsonObject;
  readonly documentUrl: string;
  readonly template: string;
  readonly item: JsonObject;
  readonly itemParameters: readonly JsonObject[];
};

export type SourcedOperation = { readonly operation: Operation; readonly source: JsonObject };

/** Operations in document order, each with the object it was read from. */
export function readOperations(root: JsonObject, documentUrl: string): readonly SourcedOperation[] {
  const paths = Object.entries(jsonObject(root['paths']))
    .filter(([template]) => template.startsWith('/'))
    .slice(0, MAX_PATHS);
  const found: SourcedOperation[] = [];
  for (const [template, value] of paths) {
    const item = pathItem(root, value);
    const itemParameters = parametersOf(root, item['parameters']);
    const place = { root, documentUrl, template, item, itemParameters };
    for (const method of METHODS) {
      const source = item[method];
      if (!isJsonObject(source) || found.length >= MAX_OPERATIONS) continue;
      found.push({ operation: operationOf(place, method, source), source });
    }
  }
  return found;
}

/** Members beside a `$ref` count over those of what it names. */
function pathItem(root: JsonObject, value: JsonValue | undefined): JsonObject {
  const own = jsonObject(value);
  if (own['$ref'] === undefined) return own;
  const named = jsonObject(followRef(root, own));
  const members = [...METHODS, 'parameters', 'servers'].map((name) => [
    name,
    own[name] ?? named[name],
  ]);
  return Object.fromEntries(members);
}

function operationOf(place: Place, method: string, source: JsonObject): Operation {
  const { root, template, item } = place;
  const pointer = `/paths/${pointerStep(template)}/${method}`;
  const info = source['x-payment-info'] ?? undefined;
  const parameters = merge(place.itemParameters, parametersOf(root, source['parameters']));
  const server = [source, item, root].map((one) => jsonList(one['servers'])[0]).find(isJsonObject);
  const basePath = serverBasePath(server, place.documentUrl);
  const responses = jsonObject(followRef(root, source['responses']));
  const declares402 = responses['402'] !== undefined;
  return {
    method: method.toUpperCase(),
    template,
    pointer,
    requestPath: requestPathOf(basePath, template, parameters, root),
    hasPathParameters: hasPathParameters(template),
    hasRequiredParameters: needsParameters(parameters),
    security: securityOf(source) ?? securityOf(root),
    declares402,
    paymentInfo: isJsonObject(info) ? info : null,
    ...readProtocols(info),
    price: readPrice(info, pointer),
    paid: declares402 || (isDeclared(info) && !isDeclaredFree(info)),
  };
}

function isDeclared(info: JsonValue | undefined): boolean {
  return info !== undefined && info !== false;
}

function securityOf(owner: JsonObject): readonly JsonObject[] | null {
  const security = owner['security'];
  return isJsonList(security) ? security.slice(0, MAX_LIST).filter(isJsonObject) : null;
}

function parametersOf(root: JsonObject, list: JsonValue | undefined): readonly JsonObject[] {
  return jsonList(list)
    .slice(0, MAX_LIST)
    .map((parameter) => followRef(root, parameter))
    .filter(isJsonObject);
}

/** A parameter of the operation takes the place of the path item's of the same name and place. */
function merge(shared: readonly JsonObject[], own: readonly JsonObject[]): readonly JsonObject[] {
  const keys = new Set(own.map(keyOf));
  return [...own, ...shared.filter((parameter) => !keys.has(keyOf(parameter)))];
}

function keyOf(parameter: JsonObject): string {
  return JSON.stringify([parameter['in'], parameter['name']]);
}
