/** nginx in front of any stack. It can add headers and documents, but it cannot take a payment. */
import { toJsonLiteral } from '../literals.ts';
import {
  cannotFix,
  type Patch,
  readPatch,
  type ServedDocument,
  type StackPatches,
  toPart,
  toPatch,
} from '../patch.ts';
import type { PatchRoute } from '../patch-values.ts';
import { hasParameters, toRoutePattern, writeRoute } from '../route-template.ts';

const FILE = 'server.conf';
const DOCUMENT_FOLDER = '/srv/x402';
const UPSTREAM_URL = 'http://<upstream>';
/** A location does not inherit these from `location /`. Without them the application hears the name of the upstream. */
const PROXY_LINES = [
  'proxy_set_header Host $host;',
  'proxy_set_header X-Forwarded-Host $host;',
  'proxy_set_header X-Forwarded-Proto $scheme; # let the application trust this proxy',
];
/** Text without nginx syntax; anything else stays a placeholder. */
const PLAIN_TEXT = /^[A-Za-z0-9._~/:-]+$/;

export const NGINX: StackPatches = {
  'paid-route': () => leaveToApplication('the challenge'),
  'one-price': () => leaveToApplication('the price'),
  'one-recipient': () => leaveToApplication('the recipient'),
  bazaar: () => leaveToApplication('the extension'),
  'token-domain': () => leaveToApplication('the domain of the token'),
  'public-url': () => toPatch(FILE, writeLocation('/', [])),
  'head-guard': ({ routes }) =>
    writeLocations(
      routes.filter(({ method }) => method === null || method === 'GET'),
      ['if ($request_method = HEAD) {', '    add_header Allow GET always;', '    return 405;', '}'],
    ),
  'no-store': ({ routes }) =>
    writeLocations(routes, [
      'proxy_hide_header Cache-Control;',
      'add_header Cache-Control no-store always;',
    ]),
  'base-url': () =>
    toPatch(FILE, [
      '# If a page has moved, redirect its old address. Better: write the new address.',
      'location = "/<dead path>" {',
      '    return 301 "/<where it is now>";',
      '}',
    ]),
  tls: ({ host }) => {
    const name = PLAIN_TEXT.test(host) ? host : '<host>';
    const folder = `/etc/letsencrypt/live/${name}`;
    return toPatch(FILE, [
      `server_name "${name}";`,
      'listen 443 ssl;',
      `ssl_certificate "${folder}/fullchain.pem"; # the whole chain, not cert.pem`,
      `ssl_certificate_key "${folder}/privkey.pem";`,
    ]);
  },
  limiter: () => readPatch('nginx', 'payments.conf'),
  'own-server': () => leaveToApplication('servers'),
  serve: writeStaticFile,
};

function leaveToApplication(subject: string): Patch {
  return cannotFix(
    `nginx cannot, because the application writes ${subject}. Take the patch of the stack behind nginx`,
  );
}

/** Writes a location for each path. An unknown path gets a name that makes nginx refuse to start. */
function writeLocations(routes: readonly PatchRoute[], lines: readonly string[]): Patch {
  const matchers = routes.map(({ template }) => {
    if (template === null) return '<the route>';
    if (hasParameters(template)) return `~ ${toRoutePattern(template)}`;
    return `= ${writeRoute(template, 'openapi')}`;
  });
  const code = [...new Set(matchers)].flatMap((matcher) => writeLocation(matcher, lines));
  const comment =
    '# If you have such a location, add these lines to it: nginx takes one of each name.';
  return toPatch(FILE, [comment, ...code]);
}

function writeLocation(matcher: string, lines: readonly string[]): string[] {
  return [
    `location ${matcher} {`,
    ...[...lines, ...PROXY_LINES].map((line) => `    ${line}`),
    `    proxy_pass "${UPSTREAM_URL}";`,
    '}',
  ];
}

function writeStaticFile({ path, contentType, body }: ServedDocument): Patch {
  const file = `${DOCUMENT_FOLDER}${path === '/' ? '/index.html' : path}`;
  const [type] = contentType.split(';');
  return {
    parts: [
      { file, code: typeof body === 'string' ? body : `${toJsonLiteral(body)}\n` },
      toPart(FILE, [
        `location = ${path} {`,
        '    types { }',
        `    default_type ${type};`,
        // By an alias, nginx would look for the index of "/" behind the name of the file.
        ...(path === '/'
          ? [`    root ${DOCUMENT_FOLDER};`, '    try_files /index.html =404;']
          : [`    alias ${file};`]),
        '}',
      ]),
    ],
  };
}
