/** Express 5 with @x402/express. */
import {
  bodyLiteral,
  JAVASCRIPT_TOPICS,
  routeKey,
  sdkImports,
  sdkServer,
  soldRoute,
} from '../javascript.ts';
import { js } from '../literals.ts';
import { type Patch, part, type ServedDocument, type StackPatches } from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';

const FILE = 'server.ts';

export const EXPRESS: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  'paid-route': (values) => paidRoute(values),
  'public-url': (values) => paidRoute(values, { proxy: true }),
  'head-guard': (values) => paidRoute(values, { head: true }),
  bazaar: (values) => paidRoute(values, { bazaar: true }),
  'no-store': ({ path }) =>
    part(FILE, 'ts', [
      "import express from 'express';",
      '',
      'export const app = express();',
      '// Before the payment middleware, whose 402 it goes with.',
      `app.use(${js(path)}, (_request, response, next) => {`,
      "  response.set('Cache-Control', 'no-store');",
      '  next();',
      '});',
    ]),
  serve: (document) => [{ file: FILE, language: 'ts', code: serve(document) }],
};

type Extras = { readonly proxy?: boolean; readonly head?: boolean; readonly bazaar?: boolean };

function paidRoute(values: PatchValues, { proxy, head, bazaar = false }: Extras = {}): Patch {
  const { method, path } = values;
  const sold = (name: string) => `${routeKey(name, path)}: sold`;
  return part(FILE, 'ts', [
    ...sdkImports(values, { bazaar }),
    "import { paymentMiddleware } from '@x402/express';",
    "import express from 'express';",
    '',
    ...sdkServer(values, { bazaar }),
    ...soldRoute(values, { bazaar }),
    '',
    'export const app = express();',
    ...(proxy ? ["app.set('trust proxy', 1); // one proxy, which ends TLS"] : []),
    '// Before express.json(), validation and the handlers.',
    `app.use(paymentMiddleware({ ${sold(method)}${head ? `, ${sold('HEAD')}` : ''} }, server));`,
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
