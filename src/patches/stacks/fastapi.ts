/** FastAPI with the Python package x402. */
import { paidOperation, SECURITY_SCHEMES } from '../documents.ts';
import { json, python, pythonText } from '../literals.ts';
import { type Patch, part, type ServedDocument, type StackPatches } from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';
import { bazaarImport, machineOf, PYTHON_TOPICS, soldRoute } from '../python.ts';

const FILE = 'main.py';
const PROXY = [
  '# Behind a proxy that ends TLS: uvicorn main:app --proxy-headers --forwarded-allow-ips=<proxy>',
];

export const FASTAPI: StackPatches = {
  ...PYTHON_TOPICS,
  'paid-route': (values) => paidRoute(values),
  'public-url': (values) => paidRoute(values, { proxy: true }),
  'head-guard': (values) => paidRoute(values, { head: true }),
  bazaar: (values) => paidRoute(values, { bazaar: true }),
  'no-store': ({ path }) =>
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
      `    if request.url.path == ${python(path)}:`,
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

type Extras = { readonly proxy?: boolean; readonly head?: boolean; readonly bazaar?: boolean };

function paidRoute(values: PatchValues, { proxy, head, bazaar = false }: Extras = {}): Patch {
  const { method, path, network } = values;
  const machine = machineOf(values);
  const keys = [method, ...(head ? ['HEAD'] : [])].map((name) => python(`${name} ${path}`));
  return part(FILE, 'python', [
    ...(proxy ? PROXY : []),
    'import os',
    '',
    'from fastapi import FastAPI, Request',
    'from x402 import x402ResourceServer',
    ...bazaarImport(bazaar),
    'from x402.http import FacilitatorConfig, HTTPFacilitatorClient',
    'from x402.http.middleware.fastapi import payment_middleware',
    `from x402.mechanisms.${machine}.exact import register_exact_${machine}_server`,
    '',
    'facilitator = HTTPFacilitatorClient(FacilitatorConfig(url=os.environ["FACILITATOR_URL"]))',
    'server = x402ResourceServer(facilitator)',
    `register_exact_${machine}_server(server, ${python(network)})`,
    '',
    ...soldRoute(values, { bazaar }),
    '',
    'app = FastAPI()',
    `guard = payment_middleware({${keys.map((key) => `${key}: sold`).join(', ')}}, server)`,
    '',
    '',
    '# A middleware, no dependency: FastAPI validates a body before it runs dependencies.',
    '@app.middleware("http")',
    'async def x402(request: Request, call_next):',
    '    return await guard(request, call_next)',
  ]);
}

/** FastAPI writes the document; what it says of payment is added to each operation. */
function amendOpenApi(values: PatchValues): string {
  const { path, freePath, method, origin } = values;
  const { responses, ...extra } = paidOperation(values);
  return [
    'from fastapi import FastAPI',
    '',
    `PAID = ${json(extra)}`,
    '',
    'app = FastAPI(',
    '    title="<name of the service>",',
    '    version="1.0.0",',
    '    contact={"email": "<email>"},',
    `    servers=[{"url": ${python(origin)}}],`,
    ')',
    '',
    '',
    `@app.${method.toLowerCase()}(${python(path)}, responses={402: ${json(responses[402])}}, openapi_extra=PAID)`,
    'def paid():',
    '    ...',
    '',
    '',
    `@app.get(${python(freePath)}, openapi_extra={"security": []})`,
    'def free():',
    '    ...',
    '',
    '',
    '# Below all routes: FastAPI keeps what it wrote.',
    'schema = app.openapi()',
    'schema["info"]["x-guidance"] = "<how an agent calls this, at most 4,000 characters>"',
    `schema.setdefault("components", {})["securitySchemes"] = ${json(SECURITY_SCHEMES)}`,
    '',
  ].join('\n');
}

function serve({ path, contentType, body }: ServedDocument): string {
  const isText = typeof body === 'string';
  const answer = isText ? 'Response(DOCUMENT, media_type=MEDIA_TYPE)' : 'JSONResponse(DOCUMENT)';
  return [
    'from fastapi import FastAPI',
    `from fastapi.responses import ${isText ? 'Response' : 'JSONResponse'}`,
    '',
    ...(isText ? [`MEDIA_TYPE = ${python(contentType)}`] : []),
    `DOCUMENT = ${isText ? pythonText(body) : json(body)}`,
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
