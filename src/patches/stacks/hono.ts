/** Hono 4 with @x402/hono. */
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

export const HONO: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  'paid-route': (values) => paidRoute(values),
  // `resource` is the address that buyers see, whatever the proxy sends.
  'public-url': (values) => paidRoute(values),
  'head-guard': (values) => paidRoute(values, { head: true }),
  bazaar: (values) => paidRoute(values, { bazaar: true }),
  'no-store': ({ path }) =>
    part(FILE, 'ts', [
      "import { Hono } from 'hono';",
      '',
      'export const app = new Hono();',
      '// Before the payment middleware, whose 402 it goes with.',
      `app.use(${js(path)}, async (c, next) => {`,
      '  await next();',
      "  c.header('Cache-Control', 'no-store');",
      '});',
    ]),
  serve: (document) => [{ file: FILE, language: 'ts', code: serve(document) }],
};

type Extras = { readonly head?: boolean; readonly bazaar?: boolean };

function paidRoute(values: PatchValues, { head, bazaar = false }: Extras = {}): Patch {
  const { method, path } = values;
  const sold = (name: string) => `${routeKey(name, path)}: sold`;
  return part(FILE, 'ts', [
    ...sdkImports(values, { bazaar }),
    "import { paymentMiddleware } from '@x402/hono';",
    "import { Hono } from 'hono';",
    '',
    ...sdkServer(values, { bazaar }),
    ...soldRoute(values, { bazaar }),
    '',
    'export const app = new Hono();',
    '// Before validators and the handlers. Hono runs the GET handler for HEAD as well.',
    `app.use(paymentMiddleware({ ${sold(method)}${head ? `, ${sold('HEAD')}` : ''} }, server));`,
  ]);
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
