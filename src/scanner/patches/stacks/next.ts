/** Next with the app router and @x402/next. */
import {
  JAVASCRIPT_TOPICS,
  toBodyLiteral,
  toRouteLiteral,
  writeSdkImports,
  writeSdkServer,
  writeSoldRoute,
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
  toPart,
  toPatch,
  toSoldRoute,
} from '../patch.ts';
import { listNetworks, type PatchRoute, type PatchValues } from '../patch-values.ts';
import {
  parseRouteTemplate,
  type RouteTemplate,
  toUnknownRouteNote,
  writeRoute,
} from '../route-template.ts';

/** Paths that are valid folder names. Any other path gets a placeholder as its folder. */
const FOLDER_PATH = /^(?:\/(?:[A-Za-z0-9._~-]+|\[(?:\.\.\.)?\w+\]))+\/?$|^\/$/;

export const NEXT: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'head-guard': ({ routes }) => ({
    parts: groupByFile(routes.filter(({ method }) => method === null || method === 'GET')).map(
      ([file, [route]]) =>
        toPart(file, [
          ...(route?.template === null ? [`// ${toUnknownRouteNote(route)}`] : []),
          '// Put this beside GET. Without it, Next runs GET for HEAD.',
          "export const HEAD = () => new Response(null, { status: 405, headers: { Allow: 'GET' } });",
        ]),
    ),
  }),
  'no-store': ({ routes }) => {
    const entries = routes.map(
      (route) => `      { source: ${toRouteLiteral(route, 'source')}, headers },`,
    );
    return readPatch('next', 'next.config.ts', { routes: entries.join('\n') });
  },
  limiter: () =>
    cannotFix(
      'call your limiter first in the handler that withX402 wraps, not in proxy.ts: only paid requests run that handler',
    ),
  'own-server': () => readPatch('next', 'lib/own-server.ts'),
  serve: (document) =>
    toPatch(toRouteFile(parseRouteTemplate(document.path)), writeDocumentRoute(document)),
};

/** Writes one file for each path. Each file guards its own routes. */
function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  const parts = groupByFile(values.routes).map(([file, routes]) =>
    toPart(file, writeRouteModule(routes, values, extras)),
  );
  return { parts };
}

function writeRouteModule(
  routes: readonly PatchRoute[],
  values: PatchValues,
  extras: PaidExtras,
): string[] {
  const networks = listNetworks(routes);
  return [
    ...writeSdkImports(networks, extras),
    "import { withX402 } from '@x402/next';",
    `import { ${extras.isBehindProxy ? 'NextRequest' : 'type NextRequest'}, NextResponse } from 'next/server';`,
    '',
    ...routes
      .filter(({ template }) => template === null)
      .map((route) => `// ${toUnknownRouteNote(route)}`),
    ...writeSdkServer(networks, extras),
    '',
    '// Parse and validate the request in this function, so that an unpaid request gets 402 first.',
    'async function handler(_request: NextRequest) {',
    "  return NextResponse.json({ '<member>': '<what is sold>' });",
    '}',
    ...routes.flatMap((route) => {
      const method = route.method ?? 'GET';
      const sold = toSoldRoute(`sold${method}`, route, values, extras);
      const guardedHandler = `withX402(handler, ${sold.name}, server)`;
      return [
        '',
        ...writeSoldRoute(sold, extras),
        ...(extras.isBehindProxy
          ? writePublicHandler(method, guardedHandler, values)
          : [`export const ${method} = ${guardedHandler};`]),
      ];
    }),
  ];
}

/** The wrapper builds the URL of a route with parameters from the request, so the request needs the public origin. */
function writePublicHandler(
  method: string,
  guardedHandler: string,
  { origin }: PatchValues,
): string[] {
  return [
    `const guarded${method} = ${guardedHandler};`,
    '// Behind a proxy that ends TLS, requests say http.',
    `export function ${method}(request: NextRequest) {`,
    '  const { pathname, search } = request.nextUrl;',
    `  return guarded${method}(new NextRequest(${toJsString(origin)} + pathname + search, request));`,
    '}',
  ];
}

/** The methods of one path share a file. Each unknown path gets its own file. Drops a repeated method of a path. */
function groupByFile(routes: readonly PatchRoute[]): readonly [string, readonly PatchRoute[]][] {
  const files = new Map<string, [string, PatchRoute[]]>();
  for (const [index, route] of routes.entries()) {
    const file = toRouteFile(route.template);
    const key = route.template === null ? `${file} ${index}` : file;
    const [, fileRoutes] = files.get(key) ?? [file, []];
    const methods = fileRoutes.map(({ method }) => method ?? 'GET');
    if (!methods.includes(route.method ?? 'GET')) files.set(key, [file, [...fileRoutes, route]]);
  }
  return [...files.values()];
}

function writeDocumentRoute(document: ServedDocument): string[] {
  const answer =
    typeof document.body === 'string'
      ? `new Response(${toBodyLiteral(document)}, { headers: { 'Content-Type': ${toJsString(document.contentType)} } })`
      : `Response.json(${toBodyLiteral(document)})`;
  return [
    `// Delete public${document.path}, if there is one: Next refuses a file and a route at one path.`,
    'export const GET = () =>',
    `  ${answer};`,
  ];
}

function toRouteFile(template: RouteTemplate | null): string {
  const path = template === null ? '' : writeRoute(template, 'folder');
  const folder = FOLDER_PATH.test(path) ? path : '/<route>';
  return `app${folder.replace(/\/+$/, '')}/route.ts`;
}
