/** Flask with the Python package x402. */
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
import type { PatchValues } from '../patch-values.ts';
import { PYTHON_TOPICS, writeGuardedRoutes } from '../python.ts';

const FILE = 'app.py';

export const FLASK: StackPatches = {
  ...PYTHON_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': () => readPatch('flask', FILE, {}, 'no_store.py'),
  limiter: () =>
    cannotFix(
      'limit inside Flask, by Flask-Limiter: only paid requests get through the payment middleware to it. A proxy limits: see nginx',
    ),
  'own-server': () => readPatch('flask', 'own_server.py'),
  serve: (document) => toPatch(FILE, writeDocumentRoute(document)),
};

function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  return toPatch(FILE, [
    'import os',
    '',
    'from flask import Flask',
    ...(extras.isBehindProxy ? ['from werkzeug.middleware.proxy_fix import ProxyFix'] : []),
    ...writeGuardedRoutes('flask', values, extras),
    'app = Flask(__name__)',
    '# Flask runs the GET handler for HEAD as well.',
    'payment_middleware(app, routes, server)',
    ...(extras.isBehindProxy
      ? [
          '# One proxy, which ends TLS.',
          'app.wsgi_app = ProxyFix(app.wsgi_app, x_proto=1, x_host=1)',
        ]
      : []),
  ]);
}

function writeDocumentRoute({ name, path, contentType, body }: ServedDocument): string[] {
  const constant = toConstantName(name);
  const isText = typeof body === 'string';
  return [
    `from flask import Flask, ${isText ? 'Response' : 'jsonify'}`,
    '',
    `${constant} = ${isText ? toPythonText(body) : toPythonLiteral(body)}`,
    '',
    'app = Flask(__name__)',
    '',
    '',
    `@app.get(${toDoubleQuoted(path)})`,
    `def serve_${constant.toLowerCase()}():`,
    `    return ${isText ? `Response(${constant}, content_type=${toDoubleQuoted(contentType)})` : `jsonify(${constant})`}`,
  ];
}
