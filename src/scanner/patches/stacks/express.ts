/** Express 5 with @x402/express. */
import {
  JAVASCRIPT_TOPICS,
  toBodyLiteral,
  toRouteLiteral,
  writeGuardedApp,
  writeNewApp,
} from '../javascript.ts';
import { toJsString } from '../literals.ts';
import {
  type PaidExtras,
  type Patch,
  type ServedDocument,
  type StackPatches,
  toPaidTopics,
  toPatch,
} from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';

const FILE = 'server.ts';

export const EXPRESS: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': ({ routes }) =>
    toPatch(FILE, 'ts', [
      ...writeNewApp('express'),
      '// Put this before every other middleware, which may set the header too.',
      `app.use([${routes.map((route) => toRouteLiteral(route, 'express')).join(', ')}], (_request, response, next) => {`,
      '  response.writeHead = new Proxy(response.writeHead, {',
      '    apply(writeHead, _response, head) {',
      "      response.set('Cache-Control', 'no-store');",
      '      return Reflect.apply(writeHead, response, head);',
      '    },',
      '  });',
      '  next();',
      '});',
    ]),
  limiter: () =>
    toPatch('limiter.ts', 'ts', [
      "import { rateLimit } from 'express-rate-limit';",
      '',
      '/** Use this as your limiter. A request that ends in a 402 does not count. */',
      'export const limiter = rateLimit({',
      '  windowMs: 60_000,',
      '  limit: 60,',
      '  skipFailedRequests: true,',
      '  requestWasSuccessful: (_request, response) => response.statusCode !== 402,',
      '});',
    ]),
  'own-server': () =>
    toPatch('own-server.ts', 'ts', [
      "import type { Request } from 'express';",
      '',
      '/** Use this in GET /openapi.json: response.json({ ...document, servers: ownServers(request) }). */',
      'export function ownServers(request: Request) {',
      "  // Behind a proxy that ends TLS, also set app.set('trust proxy', 1).",
      "  return [{ url: request.protocol + '://' + request.get('host') }];",
      '}',
    ]),
  serve: (document) => toPatch(FILE, 'ts', writeDocumentRoute(document)),
};

function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  return toPatch(FILE, 'ts', [
    ...writeGuardedApp('express', values, extras),
    ...(extras.isBehindProxy ? ["app.set('trust proxy', 1); // one proxy, which ends TLS"] : []),
    '// Put this before express.json(), validation and the handlers. Express runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
  ]);
}

function writeDocumentRoute(document: ServedDocument): string[] {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `response.type(${toJsString(contentType)}).send(${toBodyLiteral(document)});`
      : `response.json(${toBodyLiteral(document, '  ')});`;
  return [
    ...writeNewApp('express'),
    '// Put this before the payment middleware and before any catch-all route.',
    `app.get(${toJsString(path)}, (_request, response) => {`,
    `  ${send}`,
    '});',
  ];
}
