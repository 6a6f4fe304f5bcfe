/** Requests that documents declare. OpenAPI's examples fill in required parameters. */

import type { Observations, ResourceObservation } from '../../model/observations.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import {
  hasPathParameters,
  removeQuery,
  toBraces,
  toRequestPath,
  toTemplateKey,
} from '../../parse/openapi/openapi-path.ts';
import type { FixedPaths } from '../first-wave.ts';

/** Observations from which the plan is made. The YAML of `openapiAlternates` is parsed; in FixedPaths it is not. */
export type FirstWave = Omit<FixedPaths, 'robots' | 'openapiAlternates'> &
  Pick<Observations, 'origin' | 'x402scan' | 'openapiAlternates'>;

/**
 * When a POST is sent to the path. `sold`: always, because a document of the seller sells it. `if-get-is-unpaid`: only
 * if the GET does not answer 402. The manifest then names no method, and OpenAPI calls the POST neither paid nor free.
 * `never`: no document sells the POST, or two documents contradict each other.
 */
export type PostRule = 'sold' | 'if-get-is-unpaid' | 'never';

/** A resource that the second wave is to ask for. */
export type PlannedResource = Omit<ResourceObservation, 'madeUp' | 'probes' | 'tool'> & {
  /** True if `path` contains a value that no document declares. */
  readonly madeUp: boolean;
  readonly post: PostRule;
};

export type PlannedRequest = Pick<PlannedResource, 'path' | 'template' | 'madeUp'> & {
  readonly method: string | null;
};

/** Matches a segment that stands for any path. Nobody knows which of these paths are sold. */
const WILDCARD = /\/\*(?=[/?]|$)/;

const EMPTY_QUERY_VALUE = /[?&][^=&]+=(?=&|$)/;

export function toPlannedRequest(operation: Operation): PlannedRequest {
  const { requestPath: path, template, method, isMadeUp } = operation;
  return { path, template, method, madeUp: isMadeUp || hasUnfilledPart(template) };
}

/** True for a wildcard, and for ":id" or another notation of routers. OpenAPI fills in only "{id}". */
function hasUnfilledPart(template: string): boolean {
  return WILDCARD.test(template) || toBraces(template) !== template;
}

export class DeclaredRequests {
  /** The first operation for each key "GET /path" or "/path", of its template and its requested path. */
  readonly #operations = new Map<string, Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const { template, route, requestPath, method } = operation;
      for (const path of [template, route, removeQuery(requestPath)]) {
        const pathKey = toTemplateKey(path);
        for (const key of [`${method} ${pathKey}`, pathKey]) {
          if (!this.#operations.has(key)) this.#operations.set(key, operation);
        }
      }
    }
  }

  /** Finds the operation that OpenAPI declares for a method of a path, with the template's query or without a query. */
  findOperation(template: string, method: string): Operation | undefined {
    const pathKey = toTemplateKey(template);
    return this.#findFirst([`${method} ${pathKey}`, `${method} ${removeQuery(pathKey)}`]);
  }

  /**
   * Fills in the parameters of the template. Prefers the values of the operation of this method, then those of another
   * method, then made-up values.
   */
  findRequest(template: string, method: string | null): PlannedRequest {
    const route = toBraces(template);
    const pathKey = toTemplateKey(route);
    // "?slug=" names a parameter and gives no value, so the operation without a query may give one.
    const pathKeys = EMPTY_QUERY_VALUE.test(route) ? [pathKey, removeQuery(pathKey)] : [pathKey];
    const operation = this.#findFirst(
      pathKeys.flatMap((key) =>
        method === null ? [key] : [`${method.toUpperCase()} ${key}`, key],
      ),
    );
    if (operation !== undefined) {
      const { path, madeUp } = toPlannedRequest(operation);
      // If the template is the filled-in path itself, the document that names it declares the values.
      return { path, template, method, madeUp: madeUp && path !== template };
    }
    if (!hasPathParameters(route)) {
      return { path: template, template, method, madeUp: WILDCARD.test(template) };
    }
    // No operation declares these parameters.
    const { path, isMadeUp } = toRequestPath('', route, [], (value) => value);
    return { path, template, method, madeUp: isMadeUp };
  }

  #findFirst(keys: readonly string[]): Operation | undefined {
    return keys.map((key) => this.#operations.get(key)).find((found) => found !== undefined);
  }
}

/**
 * Returns path and query of an address on this origin, or null for another origin. `http://` with the origin's
 * host counts as this origin, because a proxy may end TLS.
 */
export function findPathOnOrigin(originUrl: string, target: string, kit: Kit): string | null {
  const httpOrigin = `http://${new URL(originUrl).hostname}`;
  const isHttp = target.startsWith(`${httpOrigin}/`);
  const reference = isHttp ? originUrl + target.slice(httpOrigin.length) : target;
  const url = kit.sameOrigin(originUrl, reference);
  if (url === null) return null;
  // WHATWG encodes the braces of a template; OpenAPI does not.
  return (url.pathname + url.search).replaceAll('%7B', '{').replaceAll('%7D', '}');
}
