/** FastAPI with the Python package x402. */
import { paidOperation, SECURITY_SCHEMES } from '../documents.ts';
import { python, pythonJson, pythonText } from '../literals.ts';
import {
  type PaidExtras,
  type Patch,
  paidTopics,
  part,
  type ServedDocument,
  type StackPatches,
} from '../patch.ts';
import { type PatchRoute, type PatchValues, unknownRoute } from '../patch-values.ts';
import {
  bazaarImport,
  guardedRoutes,
  machineImports,
  PYTHON_TOPICS,
  registrations,
} from '../python.ts';
import { parameterNames, type RouteTemplate, writeRoute } from '../route-template.ts';

const FILE = 'main.py';
const PROXY = [
  '# Behind a proxy that ends TLS: uvicorn main:app --proxy-headers --forwarded-allow-ips=<proxy>',
];

export const FASTAPI: StackPatches = {
  ...PYTHON_TOPICS,
  ...paidTopics(paidRoutes),
  'no-store': () =>
    part(FILE, 'python', [
      'from fastapi import FastAPI, Request',
      '',
      'app = FastAPI()',
      '',
      '',
      '# After the payment middleware in this file: what is added last is outermost.',
      '@app.middleware("http")',
      'async def no_store(request: Request, call_next):',
      '    response = await call_next(request)',
      '    if response.status_code == 402 or "payment-response" in response.headers:',
      '        response.headers["Cache-Control"] = "no-store"',
      '    return response',
    ]),
  serve: (document, values) => [
    {
      file: FILE,
      language: 'python',
      code: document.path === '/openapi.json' ? amendOpenApi(values) : serve(document),
    },
  ],
};

function paidRoutes(values: PatchValues, { proxy, bazaar = false }: PaidExtras): Patch {
  return part(FILE, 'python', [
    ...(proxy ? PROXY : []),
    'import os',
    '',
    'from fastapi import FastAPI, Request',
    'from x402 import x402ResourceServer',
    ...bazaarImport(bazaar),
    'from x402.http import FacilitatorConfig, HTTPFacilitatorClient',
    'from x402.http.middleware.fastapi import payment_middleware',
    ...machineImports(values),
    '',
    'facilitator = HTTPFacilitatorClient(FacilitatorConfig(url=os.environ["FACILITATOR_URL"]))',
    'server = x402ResourceServer(facilitator)',
    ...registrations(values),
    '',
    ...guardedRoutes(values, 'fastapi', { bazaar }),
    '',
    'app = FastAPI()',
    'guard = payment_middleware(routes, server)',
    '',
    '',
    '# A middleware, no dependency: FastAPI validates a body before it runs dependencies.',
    '@app.middleware("http")',
    'async def x402(request: Request, call_next):',
    '    return await guard(request, call_next)',
  ]);
}

/** FastAPI generates the document; this adds the payment members to each operation. */
function amendOpenApi(values: PatchValues): string {
  const { routes, free, origin } = values;
  return [
    'from fastapi import FastAPI',
    '',
    'app = FastAPI(',
    '    title="<name of the service>",',
    '    version="1.0.0",',
    '    contact={"email": "<email>"},',
    `    servers=[{"url": ${python(origin)}}],`,
    ')',
    '',
    '# To the decorators of your own handlers; the payment middleware stays around them.',
    ...routes.flatMap((route, index) => paidStub(route, index)),
    ...free.flatMap(({ method, template }, index) => [
      '',
      '',
      `@app.${method.toLowerCase()}(${python(writeRoute(template, 'fastapi'))}, openapi_extra={"security": []})`,
      `def free${index + 1}(${argumentsOf(template)}):`,
      '    ...',
    ]),
    '',
    '',
    '# Put this below all routes, because FastAPI keeps the document that it wrote.',
    'schema = app.openapi()',
    'schema["info"]["x-guidance"] = "<how an agent calls this, at most 4,000 characters>"',
    `schema.setdefault("components", {})["securitySchemes"] = ${pythonJson(SECURITY_SCHEMES)}`,
    '',
  ].join('\n');
}

function paidStub(route: PatchRoute, index: number): string[] {
  const { responses, ...extra } = paidOperation(route);
  const { template } = route;
  const path = template === null ? 'ROUTE' : python(writeRoute(template, 'fastapi'));
  return [
    '',
    '',
    ...(template === null ? [`# ${unknownRoute(route)}`] : []),
    `@app.${(route.method ?? 'GET').toLowerCase()}(`,
    `    ${path},`,
    `    responses={402: ${pythonJson(responses[402])}},`,
    `    openapi_extra=${pythonJson(extra, '    ')},`,
    ')',
    `def paid${index + 1}(${template === null ? '' : argumentsOf(template)}):`,
    '    ...',
  ];
}

function argumentsOf(template: RouteTemplate): string {
  return parameterNames(template)
    .map((name) => `${name}: str`)
    .join(', ');
}

function serve({ path, contentType, body }: ServedDocument): string {
  const isText = typeof body === 'string';
  const answer = isText ? 'Response(DOCUMENT, media_type=MEDIA_TYPE)' : 'JSONResponse(DOCUMENT)';
  return [
    'from fastapi import FastAPI',
    `from fastapi.responses import ${isText ? 'Response' : 'JSONResponse'}`,
    '',
    ...(isText ? [`MEDIA_TYPE = ${python(contentType)}`] : []),
    `DOCUMENT = ${isText ? pythonText(body) : pythonJson(body)}`,
    '',
    'app = FastAPI()',
    '',
    '',
    `@app.get(${python(path)}, include_in_schema=False)`,
    'def document():',
    `    return ${answer}`,
    '',
  ].join('\n');
}
