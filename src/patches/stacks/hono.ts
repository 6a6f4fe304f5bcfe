/** Hono 4 with @x402/hono. */
import {
  JAVASCRIPT_TOPICS,
  toBodyLiteral,
  toRouteLiteral,
  writeGuardedRoutes,
  writeSdkImports,
} from '../javascript.ts';
import { toJsString } from '../literals.ts';
import type { PaidExtras, Patch, ServedDocument, StackPatches } from '../patch.ts';
import { onePart, toPaidTopics } from '../patch.ts';
import { listNetworks, type PatchValues } from '../patch-values.ts';

const FILE = 'server.ts';

export const HONO: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': ({ routes }) =>
    onePart(FILE, 'ts', [
      "import { Hono } from 'hono';",
      '',
      'export const app = new Hono();',
      '// Put this before the payment middleware, so that its 402 gets the header.',
      `for (const route of [${routes.map((route) => toRouteLiteral(route, 'hono')).join(', ')}]) {`,
      '  app.use(route, async (c, next) => {',
      '    await next();',
      "    c.header('Cache-Control', 'no-store');",
      '  });',
      '}',
    ]),
  serve: (document) => [{ file: FILE, language: 'ts', code: serve(document) }],
};

function writePaidRoutes(values: PatchValues, { proxy, bazaar = false }: PaidExtras): Patch {
  return onePart(FILE, 'ts', [
    ...writeSdkImports(listNetworks(values), { bazaar }),
    "import { paymentMiddleware } from '@x402/hono';",
    "import { Hono } from 'hono';",
    '',
    ...writeGuardedRoutes(values, { bazaar }),
    '',
    'export const app = new Hono();',
    '// Put this before validators and the handlers. Hono runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
    ...(proxy ? writePublicFetch(values) : []),
  ]);
}

/** The middleware builds the URL of a route with parameters from each request, so its origin must be the public one. */
function writePublicFetch({ origin }: PatchValues): string[] {
  return [
    '',
    '// Serve this instead of app.fetch, because behind a proxy that ends TLS, requests say http.',
    'export function fetch(request: Request) {',
    '  const { pathname, search } = new URL(request.url);',
    `  return app.fetch(new Request(${toJsString(origin)} + pathname + search, request));`,
    '}',
  ];
}

function serve(document: ServedDocument): string {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `c.body(${toBodyLiteral(document)}, 200, { 'Content-Type': ${toJsString(contentType)} })`
      : `c.json(${toBodyLiteral(document, '  ')})`;
  return [
    "import { Hono } from 'hono';",
    '',
    'export const app = new Hono();',
    '// Put this before the payment middleware and before any catch-all route.',
    `app.get(${toJsString(path)}, (c) =>`,
    `  ${send},`,
    ');',
    '',
  ].join('\n');
}
