/** Express 5 with @x402/express. */
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

export const EXPRESS: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...paidTopics(paidRoutes),
  'no-store': ({ routes }) =>
    part(FILE, 'ts', [
      "import express from 'express';",
      '',
      'export const app = express();',
      '// Before the payment middleware, whose 402 it goes with.',
      `app.use([${routes.map((route) => routeLiteral(route, 'express')).join(', ')}], (_request, response, next) => {`,
      "  response.set('Cache-Control', 'no-store');",
      '  next();',
      '});',
    ]),
  serve: (document) => [{ file: FILE, language: 'ts', code: serve(document) }],
};

function paidRoutes(values: PatchValues, { proxy, bazaar = false }: PaidExtras): Patch {
  return part(FILE, 'ts', [
    ...sdkImports(listNetworks(values), { bazaar }),
    "import { paymentMiddleware } from '@x402/express';",
    "import express from 'express';",
    '',
    ...guardedRoutes(values, { bazaar }),
    '',
    'export const app = express();',
    ...(proxy ? ["app.set('trust proxy', 1); // one proxy, which ends TLS"] : []),
    '// Before express.json(), validation and the handlers. Express runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
  ]);
}

function serve(document: ServedDocument): string {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `response.type(${js(contentType)}).send(${bodyLiteral(document)});`
      : `response.json(${bodyLiteral(document, '  ')});`;
  return [
    "import express from 'express';",
    '',
    'export const app = express();',
    '// Before the payment middleware and any route that answers everything.',
    `app.get(${js(path)}, (_request, response) => {`,
    `  ${send}`,
    '});',
    '',
  ].join('\n');
}
