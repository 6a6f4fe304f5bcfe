/** Express 5 with @x402/express. */
import {
  JAVASCRIPT_TOPICS,
  toBodyLiteral,
  writeGuardedApp,
  writeNewApp,
  writeNoStore,
} from '../javascript.ts';
import { toJsString } from '../literals.ts';
import {
  type PaidExtras,
  type Patch,
  readPatch,
  type ServedDocument,
  type StackPatches,
  toPaidTopics,
  toPatch,
} from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';

const FILE = 'server.ts';

export const EXPRESS: StackPatches = {
  ...JAVASCRIPT_TOPICS,
  ...toPaidTopics(writePaidRoutes),
  'no-store': (values) => writeNoStore('express', FILE, values),
  limiter: () => readPatch('express', 'limiter.ts'),
  'own-server': () => readPatch('express', 'own-server.ts'),
  serve: (document) => toPatch(FILE, writeDocumentRoute(document)),
};

function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  return toPatch(FILE, [
    ...writeGuardedApp('express', values, extras),
    ...(extras.isBehindProxy ? ["app.set('trust proxy', 1); // one proxy, which ends TLS"] : []),
    '// Put this before express.json(), validation and the handlers. Express runs the GET handler for HEAD as well.',
    'app.use(paymentMiddleware(routes, server));',
  ]);
}

function writeDocumentRoute(document: ServedDocument): string[] {
  const { path, contentType } = document;
  const send =
    typeof document.body === 'string'
      ? `response.type(${toJsString(contentType)}).send(${toBodyLiteral(document)});`
      : `response.json(${toBodyLiteral(document, '  ')});`;
  return [
    ...writeNewApp('express'),
    '// Put this before the payment middleware and before any catch-all route.',
    `app.get(${toJsString(path)}, (_request, response) => {`,
    `  ${send}`,
    '});',
  ];
}
