/** FastAPI with the Python package x402. */
import { listDeclaredRoutes, SECURITY_SCHEMES, toPaidOperation } from '../documents.ts';
import { toConstantName, toDoubleQuoted, toPythonLiteral, toPythonText } from '../literals.ts';
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
import { type PatchRoute, type PatchValues, PLACEHOLDERS } from '../patch-values.ts';
import { PYTHON_TOPICS, writeGuardedRoutes } from '../python.ts';
import {
  listParameterNames,
  type RouteTemplate,
  toUnknownRouteNote,
  writeRoute,
} from '../route-template.ts';

const FILE = 'main.py';
const PROXY_COMMENT =
  '# Behind a proxy that ends TLS: uvicorn main:app --proxy-headers --forwarded-allow-ips=<proxy>';

export const FASTAPI: StackPatches = {
  ...PYTHON_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': () => readPatch('fastapi', FILE, {}, 'no_store.py'),
  limiter: () =>
    cannotFix(
      'add the payment middleware after SlowAPIMiddleware, or limit by decorators: then its 402 comes before the limiter counts',
    ),
  'own-server': () =>
    cannotFix(
      'leave servers out of FastAPI(…): without it, the document is about the address that was called',
    ),
  serve: (document, values) =>
    toPatch(
      FILE,
      document.path === '/openapi.json' ? writeOpenApi(values) : writeDocumentRoute(document),
    ),
};

function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  return toPatch(FILE, [
    ...(extras.isBehindProxy ? [PROXY_COMMENT] : []),
    'import os',
    '',
    'from fastapi import FastAPI, Request',
    ...writeGuardedRoutes('fastapi', values, extras),
    'app = FastAPI()',
    'guard = payment_middleware(routes, server)',
    '',
    '',
    '# A middleware, not a dependency, because FastAPI validates a body before it runs dependencies.',
    '@app.middleware("http")',
    'async def x402(request: Request, call_next):',
    '    return await guard(request, call_next)',
  ]);
}

/** FastAPI generates the document. This code adds the payment members to each operation. */
function writeOpenApi(values: PatchValues): string[] {
  const { freeOperations, origin } = values;
  return [
    'from fastapi import FastAPI',
    '',
    'app = FastAPI()',
    'app.title = "<name of the service>"',
    'app.version = "1.0.0"',
    'app.contact = {"email": "<email>"}',
    // Without servers, the document is about the address that was called.
    ...(origin === PLACEHOLDERS.origin
      ? []
      : [`app.servers = [{"url": ${toDoubleQuoted(origin)}}]`]),
    '',
    '# Add these arguments to the decorators of your own handlers, and keep the payment middleware.',
    ...listDeclaredRoutes(values).flatMap((route, index) => writePaidStub(route, index)),
    ...freeOperations.flatMap(({ method, template }, index) => [
      '',
      '',
      `@app.${method.toLowerCase()}(${toDoubleQuoted(writeRoute(template, 'fastapi'))}, openapi_extra={"security": []})`,
      `def free${index + 1}(${writeArguments(template)}):`,
      '    ...',
    ]),
    '',
    '',
    'write_openapi = app.openapi',
    '',
    '',
    '# A function, because FastAPI writes the document anew if routes are added.',
    'def openapi() -> dict:',
    '    schema = write_openapi()',
    '    schema["info"]["x-guidance"] = "<how an agent calls this, at most 4,000 characters>"',
    '    schemes = schema.setdefault("components", {}).setdefault("securitySchemes", {})',
    `    schemes["x402"] = ${toPythonLiteral(SECURITY_SCHEMES.x402, '    ')}`,
    '    return schema',
    '',
    '',
    'app.openapi = openapi',
  ];
}

function writePaidStub(route: PatchRoute, index: number): string[] {
  const { responses, ...otherMembers } = toPaidOperation(route);
  const { template } = route;
  const path = template === null ? 'ROUTE' : toDoubleQuoted(writeRoute(template, 'fastapi'));
  return [
    '',
    '',
    ...(template === null ? [`# ${toUnknownRouteNote(route)}`] : []),
    `@app.${(route.method ?? 'GET').toLowerCase()}(`,
    `    ${path},`,
    `    responses={402: ${toPythonLiteral(responses[402])}},`,
    `    openapi_extra=${toPythonLiteral(otherMembers, '    ')},`,
    ')',
    `def paid${index + 1}(${template === null ? '' : writeArguments(template)}):`,
    '    ...',
  ];
}

function writeArguments(template: RouteTemplate): string {
  return listParameterNames(template)
    .map((name) => `${name}: str`)
    .join(', ');
}

function writeDocumentRoute({ name, path, contentType, body }: ServedDocument): string[] {
  const isText = typeof body === 'string';
  const constant = toConstantName(name);
  const answer = isText
    ? `Response(${constant}, media_type=${toDoubleQuoted(contentType)})`
    : `JSONResponse(${constant})`;
  return [
    'from fastapi import FastAPI',
    `from fastapi.responses import ${isText ? 'Response' : 'JSONResponse'}`,
    '',
    `${constant} = ${isText ? toPythonText(body) : toPythonLiteral(body)}`,
    '',
    'app = FastAPI()',
    '',
    '',
    `@app.get(${toDoubleQuoted(path)}, include_in_schema=False)`,
    `def serve_${constant.toLowerCase()}():`,
    `    return ${answer}`,
  ];
}
