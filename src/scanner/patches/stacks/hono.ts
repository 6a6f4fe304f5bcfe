/** Hono 4 with @x402/hono. */
import {
  JAVASCRIPT_TOPICS,
  toBodyLiteral,
  writeGuardedApp,
  writeNewApp,
  writeNoStore,
} from '../javascript.ts';
import { toJsString } from '../literals.ts';
import {
  cannotFix,
  type PaidExtras,
  type Patch,
  readPatch,
  type ServedDocument,
  type StackPatches,
  toPaidTopics,
  toPatch,
} from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';

const FILE = 'server.ts';

export const HONO: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': (values) => writeNoStore('hono', FILE, values),
  limiter: () =>
    cannotFix(
      'app.use your limiter after paymentMiddleware, which answers 402 itself: then only paid requests count',
    ),
  'own-server': () => readPatch('hono', 'own-server.ts'),
  serve: (document) => toPatch(FILE, writeDocumentRoute(document)),
};

function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  return toPatch(FILE, [
    ...writeGuardedApp('hono', values, extras),
    '// Put this before validators and the handlers. Hono runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
    ...(extras.isBehindProxy ? writePublicFetch(values) : []),
  ]);
}

/** The middleware builds the URL of a route with parameters from the request, so the request needs the public origin. */
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

function writeDocumentRoute(document: ServedDocument): string[] {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `c.body(${toBodyLiteral(document)}, 200, { 'Content-Type': ${toJsString(contentType)} })`
      : `c.json(${toBodyLiteral(document, '  ')})`;
  return [
    ...writeNewApp('hono'),
    '// Put this before the payment middleware and before any catch-all route.',
    `app.get(${toJsString(path)}, (c) =>`,
    `  ${send},`,
    ');',
  ];
}
