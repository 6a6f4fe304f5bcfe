/** Flask with the Python package x402. */
import { python, pythonJson, pythonText } from '../literals.ts';
import type { PaidExtras, Patch, ServedDocument, StackPatches } from '../patch.ts';
import { paidTopics, part } from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';
import {
  bazaarImport,
  guardedRoutes,
  machineImports,
  PYTHON_TOPICS,
  registrations,
} from '../python.ts';

const FILE = 'app.py';

export const FLASK: StackPatches = {
  ...PYTHON_TOPICS,
  ...paidTopics(paidRoutes),
  'no-store': () =>
    part(FILE, 'python', [
      'class NoStore:',
      '    """Around the payment middleware, whose 402 no after_request sees."""',
      '',
      '    def __init__(self, inner):',
      '        self.inner = inner',
      '',
      '    def __call__(self, environ, start_response):',
      '        def start(status, headers, *rest):',
      '            is_paid = any(k.lower() == "payment-response" for k, _ in headers)',
      '            if is_paid or status.startswith("402"):',
      '                headers = [(k, v) for k, v in headers if k.lower() != "cache-control"]',
      '                headers.append(("Cache-Control", "no-store"))',
      '            return start_response(status, headers, *rest)',
      '',
      '        return self.inner(environ, start)',
      '',
      '',
      '# After payment_middleware(app, …): app.wsgi_app = NoStore(app.wsgi_app)',
    ]),
  serve: (document) => [{ file: FILE, language: 'python', code: serve(document) }],
};

function paidRoutes(values: PatchValues, { proxy, bazaar = false }: PaidExtras): Patch {
  return part(FILE, 'python', [
    'import os',
    '',
    'from flask import Flask',
    ...(proxy ? ['from werkzeug.middleware.proxy_fix import ProxyFix'] : []),
    'from x402 import x402ResourceServerSync',
    ...bazaarImport(bazaar),
    'from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync',
    'from x402.http.middleware.flask import payment_middleware',
    ...machineImports(values),
    '',
    'facilitator = HTTPFacilitatorClientSync(FacilitatorConfig(url=os.environ["FACILITATOR_URL"]))',
    'server = x402ResourceServerSync(facilitator)',
    ...registrations(values),
    '',
    ...guardedRoutes(values, 'flask', { bazaar }),
    '',
    'app = Flask(__name__)',
    '# Flask runs the GET handler for HEAD as well.',
    'payment_middleware(app, routes, server)',
    ...(proxy
      ? [
          '# One proxy, which ends TLS.',
          'app.wsgi_app = ProxyFix(app.wsgi_app, x_proto=1, x_host=1)',
        ]
      : []),
  ]);
}

function serve({ path, contentType, body }: ServedDocument): string {
  const isText = typeof body === 'string';
  return [
    `from flask import Flask, ${isText ? 'Response' : 'jsonify'}`,
    '',
    ...(isText ? [`CONTENT_TYPE = ${python(contentType)}`] : []),
    `DOCUMENT = ${isText ? pythonText(body) : pythonJson(body)}`,
    '',
    'app = Flask(__name__)',
    '',
    '',
    `@app.get(${python(path)})`,
    'def document():',
    `    return ${isText ? 'Response(DOCUMENT, content_type=CONTENT_TYPE)' : 'jsonify(DOCUMENT)'}`,
    '',
  ].join('\n');
}
