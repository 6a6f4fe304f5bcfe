/** The request that a document's path stands for: required parameters as OpenAPI's examples fill them in. */
import type { Operation } from '../../parse/openapi/openapi.ts';
import { hasPathParameters, toRequestPath } from '../../parse/openapi/openapi-path.ts';

export type PlannedRequest = {
  readonly path: string;
  readonly template: string;
  readonly method: string | null;
  readonly madeUp: boolean;
};

/** Segments by which routers, not OpenAPI, write a parameter: ":id", "[id]", "*". */
const ROUTER_PARAMETER = /\/(?::\w+|\*|\[\w+\]|%5B\w+%5D)(?=[/?]|$)/i;

export function requestTo({ requestPath, isMadeUp, template, method }: Operation): PlannedRequest {
  return { path: requestPath, template, method, madeUp: isMadeUp || isPattern(template) };
}

export class DeclaredRequests {
  /** By "GET /path" and by "/path", as written and as requested; the first of each. */
  readonly #operations = new Map<string, Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const { template, requestPath, method } = operation;
      for (const path of [template, requestPath.split('?', 1)[0]]) {
        for (const key of [`${method} ${path}`, `${path}`]) {
          if (!this.#operations.has(key)) this.#operations.set(key, operation);
        }
      }
    }
  }

  /** The path of the declared operation; without one, the template is filled in here. */
  find(template: string, method: string | null): PlannedRequest {
    const operation =
      this.#operations.get(`${method?.toUpperCase()} ${template}`) ??
      this.#operations.get(template);
    if (operation !== undefined) {
      const { path, madeUp } = requestTo(operation);
      return { path, template, method, madeUp: madeUp && path !== template };
    }
    if (!hasPathParameters(template)) {
      return { path: template, template, method, madeUp: isPattern(template) };
    }
    const { path, isMadeUp } = toRequestPath('', template, [], (value) => value);
    return { path, template, method, madeUp: isMadeUp };
  }
}

function isPattern(template: string): boolean {
  return ROUTER_PARAMETER.test(template);
}
