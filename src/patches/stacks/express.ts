/** Express 5 with @x402/express. */
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

export const EXPRESS: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': ({ routes }) =>
    onePart(FILE, 'ts', [
      "import express from 'express';",
      '',
      'export const app = express();',
      '// Put this before the payment middleware, so that its 402 gets the header.',
      `app.use([${routes.map((route) => toRouteLiteral(route, 'express')).join(', ')}], (_request, response, next) => {`,
      "  response.set('Cache-Control', 'no-store');",
      '  next();',
      '});',
    ]),
  serve: (document) => [{ file: FILE, language: 'ts', code: serve(document) }],
};

function writePaidRoutes(values: PatchValues, { proxy, bazaar = false }: PaidExtras): Patch {
  return onePart(FILE, 'ts', [
    ...writeSdkImports(listNetworks(values), { bazaar }),
    "import { paymentMiddleware } from '@x402/express';",
    "import express from 'express';",
    '',
    ...writeGuardedRoutes(values, { bazaar }),
    '',
    'export const app = express();',
    ...(proxy ? ["app.set('trust proxy', 1); // one proxy, which ends TLS"] : []),
    '// Put this before express.json(), validation and the handlers. Express runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
  ]);
}

function serve(document: ServedDocument): string {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `response.type(${toJsString(contentType)}).send(${toBodyLiteral(document)});`
      : `response.json(${toBodyLiteral(document, '  ')});`;
  return [
    "import express from 'express';",
    '',
    'export const app = express();',
    '// Put this before the payment middleware and before any catch-all route.',
    `app.get(${toJsString(path)}, (_request, response) => {`,
    `  ${send}`,
    '});',
    '',
  ].join('\n');
}
