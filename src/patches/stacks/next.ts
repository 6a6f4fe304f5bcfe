/** Next with the app router and @x402/next. */
import { bodyLiteral, JAVASCRIPT_TOPICS, sdkImports, sdkServer, soldRoute } from '../javascript.ts';
import { js } from '../literals.ts';
import { type Patch, part, type ServedDocument, type StackPatches } from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';

/** What may stand in the name of a folder; other paths stay a placeholder there. */
const FOLDER_PATH = /^\/[A-Za-z0-9._~/-]*$/;

export const NEXT: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  'paid-route': (values) => paidRoute(values),
  // `resource` is the address that buyers see, whatever the platform's request says.
  'public-url': (values) => paidRoute(values),
  bazaar: (values) => paidRoute(values, { bazaar: true }),
  'head-guard': ({ path, method }) =>
    part(routeFile(path), 'ts', [
      '// Beside GET: without it Next runs GET for HEAD.',
      `export const HEAD = () => new Response(null, { status: 405, headers: { Allow: ${js(method)} } });`,
    ]),
  'no-store': ({ path }) =>
    part('next.config.ts', 'ts', [
      "import type { NextConfig } from 'next';",
      '',
      'const config: NextConfig = {',
      '  async headers() {',
      `    return [{ source: ${js(path)}, headers: [{ key: 'Cache-Control', value: 'no-store' }] }];`,
      '  },',
      '};',
      'export default config;',
    ]),
  serve: (document) => [{ file: routeFile(document.path), language: 'ts', code: serve(document) }],
};

function paidRoute(values: PatchValues, { bazaar = false } = {}): Patch {
  const { path, method } = values;
  return part(routeFile(path), 'ts', [
    ...sdkImports(values, { bazaar }),
    "import { withX402 } from '@x402/next';",
    "import { type NextRequest, NextResponse } from 'next/server';",
    '',
    ...sdkServer(values, { bazaar }),
    ...soldRoute(values, { bazaar }),
    '',
    '// Parse and validate the request in here: whoever has not paid gets 402 first.',
    'async function handler(_request: NextRequest) {',
    "  return NextResponse.json({ '<member>': '<what is sold>' });",
    '}',
    '',
    `export const ${method} = withX402(handler, sold, server);`,
  ]);
}

function serve(document: ServedDocument): string {
  const answer =
    typeof document.body === 'string'
      ? `new Response(${bodyLiteral(document)}, { headers: { 'Content-Type': ${js(document.contentType)} } })`
      : `Response.json(${bodyLiteral(document)})`;
  return `export const GET = () =>\n  ${answer};\n`;
}

function routeFile(path: string): string {
  const folder = FOLDER_PATH.test(path) ? path : '/<route>';
  return `app${folder.replace(/\/+$/, '')}/route.ts`;
}
