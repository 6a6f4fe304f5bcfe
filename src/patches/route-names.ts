import type { SoldRoute } from './patch-values.ts';
import { writeRoute } from './route-template.ts';

/** "GET /weather/{city}", for documents and for keys that no middleware reads. */
export function nameRoute(route: SoldRoute): string {
  return route.method === null ? toOpenApiPath(route) : `${route.method} ${toOpenApiPath(route)}`;
}

/** The path as OpenAPI writes it. */
export function toOpenApiPath({ template }: SoldRoute): string {
  return template === null ? '/<route>' : writeRoute(template, 'openapi');
}
