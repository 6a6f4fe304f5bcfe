/** Requests that documents declare. OpenAPI's examples fill in required parameters. */

import type { Observations, ResourceObservation } from '../../model/observations.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import {
  hasPathParameters,
  toBraces,
  toRequestPath,
  toTemplateKey,
} from '../../parse/openapi/openapi-path.ts';
import type { FixedPaths } from '../first-wave.ts';

/** Observations from which the plan is made. Its `openapiAlternates` have parsed YAML, those of FixedPaths do not. */
export type FirstWave = Omit<FixedPaths, 'robots' | 'openapiAlternates'> &
  Pick<Observations, 'origin' | 'x402scan' | 'openapiAlternates'>;

/**
 * The rule by which a POST is sent to the path. `sold`: always, because a document of the seller sells it.
 * `if-get-is-unpaid`: the manifest sells the path without a method, and OpenAPI has a POST that it calls neither paid
 * nor free. `never`: nobody sells it.
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
  return { path, template, method, madeUp: isMadeUp || hasUnknownValue(template) };
}

/** True if an OpenAPI document has a wildcard, or a parameter in the notation of routers, which is never filled in. */
function hasUnknownValue(template: string): boolean {
  return WILDCARD.test(template) || toBraces(template) !== template;
}

export class DeclaredRequests {
  /** The first operation for each key "GET /path" or "/path", of its template and its requested path. */
  readonly #operations = new Map<string, Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const { template, route, requestPath, method } = operation;
      for (const path of [template, route, requestPath.split('?', 1)[0]]) {
        const pathKey = toTemplateKey(path ?? '');
        for (const key of [`${method} ${pathKey}`, pathKey]) {
          if (!this.#operations.has(key)) this.#operations.set(key, operation);
        }
      }
    }
  }

  /** Finds the operation that OpenAPI declares for a method of a path, with the template's query or without a query. */
  findOperation(template: string, method: string): Operation | undefined {
    const key = toTemplateKey(template);
    return (
      this.#operations.get(`${method} ${key}`) ??
      this.#operations.get(`${method} ${key.split('?', 1)[0]}`)
    );
  }

  /** Fills in the template by the operation of this method, or else of another method, or else by made-up values. */
  findRequest(template: string, method: string | null): PlannedRequest {
    const route = toBraces(template);
    // "?slug=" names a parameter and gives no value, so the operation's own example is asked for.
    const pathKey = toTemplateKey(route);
    const [pathOnly = pathKey] = pathKey.split('?', 1);
    const pathKeys = EMPTY_QUERY_VALUE.test(route) ? [pathKey, pathOnly] : [pathKey];
    const operation = pathKeys
      .flatMap((key) => [`${method?.toUpperCase()} ${key}`, key])
      .map((key) => this.#operations.get(key))
      .find((found) => found !== undefined);
    if (operation !== undefined) {
      const { path, madeUp } = toPlannedRequest(operation);
      // A document that has the filled-in path as its template declares the values in it.
      return { path, template, method, madeUp: madeUp && path !== template };
    }
    if (!hasPathParameters(route)) {
      return { path: template, template, method, madeUp: WILDCARD.test(template) };
    }
    const { path, isMadeUp } = toRequestPath('', route, [], (value) => value);
    return { path, template, method, madeUp: isMadeUp };
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
