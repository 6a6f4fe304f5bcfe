import type { SoldRoute } from './patch-values.ts';
import { writeRoute } from './route-template.ts';

/** "GET /weather/{city}", for documents and for keys that no middleware reads. */
export function nameRoute(route: SoldRoute): string {
  return route.method === null ? toOpenApiPath(route) : `${route.method} ${toOpenApiPath(route)}`;
}

/** ROUTE stays undefined on purpose: code with an invented path would run and leave the real route unpaid. */
export function unknownRoute({ example }: SoldRoute): string {
  const asked = example === null ? '' : ` behind ${example}`;
  return `<route>${asked}: define ROUTE as your router has it; nothing runs before`;
}

/** The path as OpenAPI writes it. */
export function toOpenApiPath({ template }: SoldRoute): string {
  return template === null ? '/<route>' : writeRoute(template, 'openapi');
}
