/** nginx in front of any stack; it can add headers and documents, and take no payment. */
import { json } from '../literals.ts';
import type { Patch, PatchPart, ServedDocument, StackPatches } from '../patch.ts';
import { part, whyNot } from '../patch.ts';
import type { PatchRoute } from '../patch-values.ts';
import { hasParameters, routePattern, writeRoute } from '../route-template.ts';

const FOLDER = '/srv/x402';
const PROXY = 'http://<upstream>';
/** Text without nginx syntax; anything else stays a placeholder. */
const PLAIN = /^[A-Za-z0-9._~/:-]+$/;

export const NGINX: StackPatches = {
  'paid-route': () => application('the challenge'),
  'one-price': () => application('the price'),
  'one-recipient': () => application('the recipient'),
  bazaar: () => application('the extension'),
  'public-url': () =>
    location('/', [
      'proxy_set_header Host $host;',
      'proxy_set_header X-Forwarded-Host $host;',
      'proxy_set_header X-Forwarded-Proto $scheme; # and let the application trust this proxy',
    ]),
  'head-guard': ({ routes }) =>
    locations(
      routes.filter(({ method }) => method === null || method === 'GET'),
      ['if ($request_method = HEAD) {', '    add_header Allow GET always;', '    return 405;', '}'],
    ),
  'no-store': ({ routes }) =>
    locations(routes, [
      'proxy_hide_header Cache-Control;',
      'add_header Cache-Control no-store always;',
    ]),
  'base-url': () =>
    part('server.conf', 'nginx', [
      '# If a page has moved, redirect its old address. Better: write the new address.',
      'location = "/<dead path>" {',
      '    return 301 "/<where it is now>";',
      '}',
    ]),
  tls: ({ host }) => {
    const name = PLAIN.test(host) ? host : '<host>';
    const folder = `/etc/letsencrypt/live/${name}`;
    return {
      parts: [
        {
          file: 'server.conf',
          language: 'nginx',
          code: [
            `server_name "${name}";`,
            'listen 443 ssl;',
            `ssl_certificate "${folder}/fullchain.pem"; # the whole chain, not cert.pem`,
            `ssl_certificate_key "${folder}/privkey.pem";`,
            '',
          ].join('\n'),
        },
      ],
    };
  },
  serve: (document) => staticFile(document),
};

function application(what: string): Patch {
  return whyNot(
    `nginx cannot: ${what} is the application's; take the patch of the stack behind it`,
  );
}

/** A location for each path. An unknown path gets a name with which nginx refuses to start. */
function locations(routes: readonly PatchRoute[], lines: readonly string[]): Patch {
  const matches = routes.map(({ template }) => {
    if (template === null) return '<the route>';
    if (hasParameters(template)) return `~ ${routePattern(template)}`;
    return `= ${writeRoute(template, 'openapi')}`;
  });
  const code = [...new Set(matches)].flatMap((match) => block(match, lines));
  return part('server.conf', 'nginx', code);
}

function location(match: string, lines: readonly string[]): Patch {
  return part('server.conf', 'nginx', block(match, lines));
}

function block(match: string, lines: readonly string[]): string[] {
  return [
    `location ${match} {`,
    ...lines.map((line) => `    ${line}`),
    `    proxy_pass "${PROXY}";`,
    '}',
  ];
}

function staticFile({ path, contentType, language, body }: ServedDocument): readonly PatchPart[] {
  const file = `${FOLDER}${path === '/' ? '/index.html' : path}`;
  const [type] = contentType.split(';');
  return [
    { file, language, code: typeof body === 'string' ? body : `${json(body)}\n` },
    {
      file: 'server.conf',
      language: 'nginx',
      code: [
        `location = ${path} {`,
        '    types { }',
        `    default_type ${type};`,
        `    alias ${file};`,
        '}',
        '',
      ].join('\n'),
    },
  ];
}
