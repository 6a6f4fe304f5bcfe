/** Next with the app router and @x402/next. */
import {
  bodyLiteral,
  JAVASCRIPT_TOPICS,
  routeLiteral,
  sdkImports,
  sdkServer,
  soldRoute,
} from '../javascript.ts';
import { js } from '../literals.ts';
import {
  type PaidExtras,
  type Patch,
  type PatchPart,
  paidTopics,
  part,
  type ServedDocument,
  type StackPatches,
} from '../patch.ts';
import { type PatchRoute, type PatchValues, unknownRoute } from '../patch-values.ts';
import { parseRouteTemplate, type RouteTemplate, writeRoute } from '../route-template.ts';

/** Paths that are valid folder names; others stay a placeholder. */
const FOLDER_PATH = /^(?:\/(?:[A-Za-z0-9._~-]+|\[(?:\.\.\.)?\w+\]))+\/?$|^\/$/;

export const NEXT: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...paidTopics(paidRoutes),
  'head-guard': ({ routes }) => ({
    parts: byFile(routes.filter(({ method }) => method === null || method === 'GET')).map(
      ([file, [route]]) => ({
        file,
        language: 'ts',
        code: [
          ...(route?.template === null ? [`// ${unknownRoute(route)}`] : []),
          '// Beside GET: without it Next runs GET for HEAD.',
          "export const HEAD = () => new Response(null, { status: 405, headers: { Allow: 'GET' } });",
          '',
        ].join('\n'),
      }),
    ),
  }),
  'no-store': ({ routes }) =>
    part('next.config.ts', 'ts', [
      "import type { NextConfig } from 'next';",
      '',
      "const headers = [{ key: 'Cache-Control', value: 'no-store' }];",
      'const config: NextConfig = {',
      '  async headers() {',
      '    return [',
      ...routes.map((route) => `      { source: ${routeLiteral(route, 'source')}, headers },`),
      '    ];',
      '  },',
      '};',
      'export default config;',
    ]),
  serve: (document) => [
    {
      file: routeFile(parseRouteTemplate(document.path)),
      language: 'ts',
      code: serve(document),
    },
  ],
};

/** One file for each path; each guards its own routes, so that none opens another. */
function paidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  const parts = byFile(values.routes).map(
    ([file, routes]): PatchPart => ({
      file,
      language: 'ts',
      code: `${routeModule(routes, values, extras).join('\n')}\n`,
    }),
  );
  return { parts };
}

function routeModule(
  routes: readonly PatchRoute[],
  values: PatchValues,
  { proxy, bazaar = false }: PaidExtras,
): string[] {
  const networks = [...new Set(routes.map(({ network }) => network))];
  return [
    ...sdkImports(networks, { bazaar }),
    "import { withX402 } from '@x402/next';",
    `import { ${proxy ? 'NextRequest' : 'type NextRequest'}, NextResponse } from 'next/server';`,
    '',
    ...routes.filter(({ template }) => template === null).map((one) => `// ${unknownRoute(one)}`),
    ...sdkServer(networks, { bazaar }),
    '',
    '// Parse and validate the request in here: whoever has not paid gets 402 first.',
    'async function handler(_request: NextRequest) {',
    "  return NextResponse.json({ '<member>': '<what is sold>' });",
    '}',
    ...routes.flatMap((route) => {
      const method = route.method ?? 'GET';
      const sold = `sold${method}`;
      const guarded = `withX402(handler, ${sold}, server)`;
      return [
        '',
        ...soldRoute(sold, route, values, { bazaar }),
        ...(proxy
          ? publicHandler(method, guarded, values)
          : [`export const ${method} = ${guarded};`]),
      ];
    }),
  ];
}

/** The wrapper builds the URL of a route with parameters from each request, so its origin must be the public one. */
function publicHandler(method: string, guarded: string, { origin }: PatchValues): string[] {
  return [
    `const guarded${method} = ${guarded};`,
    '// Behind a proxy that ends TLS, requests say http.',
    `export function ${method}(request: NextRequest) {`,
    '  const { pathname, search } = request.nextUrl;',
    `  return guarded${method}(new NextRequest(${js(origin)} + pathname + search, request));`,
    '}',
  ];
}

/** The methods of one path share a file; of two routes with the same method the first is kept. */
function byFile(routes: readonly PatchRoute[]): readonly [string, readonly PatchRoute[]][] {
  const files = new Map<string, [string, PatchRoute[]]>();
  for (const [index, route] of routes.entries()) {
    const file = routeFile(route.template);
    const key = route.template === null ? `${file} ${index}` : file;
    const [, known] = files.get(key) ?? [file, []];
    const methods = known.map(({ method }) => method ?? 'GET');
    if (!methods.includes(route.method ?? 'GET')) files.set(key, [file, [...known, route]]);
  }
  return [...files.values()];
}

function serve(document: ServedDocument): string {
  const answer =
    typeof document.body === 'string'
      ? `new Response(${bodyLiteral(document)}, { headers: { 'Content-Type': ${js(document.contentType)} } })`
      : `Response.json(${bodyLiteral(document)})`;
  return `export const GET = () =>\n  ${answer};\n`;
}

function routeFile(template: RouteTemplate | null): string {
  const path = template === null ? '' : writeRoute(template, 'folder');
  const folder = FOLDER_PATH.test(path) ? path : '/<route>';
  return `app${folder.replace(/\/+$/, '')}/route.ts`;
}
