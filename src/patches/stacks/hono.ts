/** Hono 4 with @x402/hono. */
import {
  bodyLiteral,
  guardedRoutes,
  JAVASCRIPT_TOPICS,
  routeLiteral,
  sdkImports,
} from '../javascript.ts';
import { js } from '../literals.ts';
import type { PaidExtras, Patch, ServedDocument, StackPatches } from '../patch.ts';
import { paidTopics, part } from '../patch.ts';
import { listNetworks, type PatchValues } from '../patch-values.ts';

const FILE = 'server.ts';

export const HONO: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...paidTopics(paidRoutes),
  'no-store': ({ routes }) =>
    part(FILE, 'ts', [
      "import { Hono } from 'hono';",
      '',
      'export const app = new Hono();',
      '// Before the payment middleware, whose 402 it goes with.',
      `for (const route of [${routes.map((route) => routeLiteral(route, 'hono')).join(', ')}]) {`,
      '  app.use(route, async (c, next) => {',
      '    await next();',
      "    c.header('Cache-Control', 'no-store');",
      '  });',
      '}',
    ]),
  serve: (document) => [{ file: FILE, language: 'ts', code: serve(document) }],
};

function paidRoutes(values: PatchValues, { proxy, bazaar = false }: PaidExtras): Patch {
  return part(FILE, 'ts', [
    ...sdkImports(listNetworks(values), { bazaar }),
    "import { paymentMiddleware } from '@x402/hono';",
    "import { Hono } from 'hono';",
    '',
    ...guardedRoutes(values, { bazaar }),
    '',
    'export const app = new Hono();',
    '// Before validators and the handlers. Hono runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
    ...(proxy ? publicFetch(values) : []),
  ]);
}

/** The middleware builds the URL of a route with parameters from each request, so its origin must be the public one. */
function publicFetch({ origin }: PatchValues): string[] {
  return [
    '',
    '// Serve this in place of app.fetch: behind a proxy that ends TLS, requests say http.',
    'export function fetch(request: Request) {',
    '  const { pathname, search } = new URL(request.url);',
    `  return app.fetch(new Request(${js(origin)} + pathname + search, request));`,
    '}',
  ];
}

function serve(document: ServedDocument): string {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `c.body(${bodyLiteral(document)}, 200, { 'Content-Type': ${js(contentType)} })`
      : `c.json(${bodyLiteral(document, '  ')})`;
  return [
    "import { Hono } from 'hono';",
    '',
    'export const app = new Hono();',
    '// Before the payment middleware and any route that answers everything.',
    `app.get(${js(path)}, (c) =>`,
    `  ${send},`,
    ');',
    '',
  ].join('\n');
}
