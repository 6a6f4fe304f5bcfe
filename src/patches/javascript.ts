import { js, json, jsTemplate } from './literals.ts';
import { type PaidExtras, type Patch, part, type ServedDocument, whyNot } from './patch.ts';
import {
  guardedKeys,
  isSolana,
  listNetworks,
  nameGuardedRoutes,
  nameRoute,
  type PatchRoute,
  type PatchValues,
  toResourceUrl,
  unknownRoute,
} from './patch-values.ts';
import { type RouteSyntax, writeRoute } from './route-template.ts';

/** Imports of the SDK, without the middleware's own. */
export function sdkImports(networks: readonly string[], { bazaar }: PaidExtras = {}): string[] {
  const schemes = [...new Set(networks.map(schemeOf))];
  return [
    "import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';",
    ...schemes.map((scheme) => `import { ${scheme} } from '${packageOf(scheme)}/exact/server';`),
    ...(bazaar
      ? [
          "import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions/bazaar';",
        ]
      : []),
  ];
}

export function sdkServer(networks: readonly string[], { bazaar }: PaidExtras = {}): string[] {
  const calls = [
    ...networks.map((network) => `.register(${js(network)}, new ${schemeOf(network)}())`),
    ...(bazaar ? ['.registerExtension(bazaarResourceServerExtension)'] : []),
  ];
  return [
    "const facilitator = new HTTPFacilitatorClient({ url: process.env['FACILITATOR_URL'] });",
    'const server = new x402ResourceServer(facilitator)',
    ...calls.map((call, index) => `  ${call}${index === calls.length - 1 ? ';' : ''}`),
  ];
}

/** The configuration of one paid route, under `name`. */
export function soldRoute(
  name: string,
  route: PatchRoute,
  values: PatchValues,
  { bazaar }: PaidExtras = {},
): string[] {
  const { network, price, payTo, description, mimeType } = route;
  const resource = toResourceUrl(values, route);
  return [
    `const ${name} = {`,
    `  accepts: { scheme: 'exact', network: ${js(network)}, price: ${js(`$${price}`)}, payTo: ${js(payTo)} },`,
    ...(resource === null ? [] : [`  resource: ${js(resource)},`]),
    `  description: ${js(description)},`,
    `  mimeType: ${js(mimeType)},`,
    ...(bazaar ? discovery(route) : []),
    '} as const;',
  ];
}

/** SDK setup, configurations and `routes` of a middleware that guards all routes. */
export function guardedRoutes(values: PatchValues, extras: PaidExtras = {}): string[] {
  const guarded = nameGuardedRoutes(values);
  return [
    ...sdkServer(listNetworks(values), extras),
    ...guarded.flatMap(({ name, route }) => soldRoute(name, route, values, extras)),
    '',
    '// List every route that is guarded today: a route that is not in this list is free.',
    'const routes = {',
    ...guarded.flatMap(({ name, route }) => routeEntries(route, name)),
    '};',
  ];
}

function routeEntries(route: PatchRoute, name: string): string[] {
  if (route.template === null) return [`  // ${unknownRoute(route)}`, `  [ROUTE]: ${name},`];
  const path = writeRoute(route.template, 'middleware');
  return guardedKeys(route, path).map((key) => `  ${js(key)}: ${name},`);
}

/** The route as an expression, for settings that are keyed by path. */
export function routeLiteral({ template }: PatchRoute, syntax: RouteSyntax): string {
  return template === null ? 'ROUTE' : js(writeRoute(template, syntax));
}

/** The body as source code: an object literal for `c.json(…)` and the like, a template string for text. */
export function bodyLiteral({ body }: ServedDocument, indent = ''): string {
  return typeof body === 'string' ? jsTemplate(body) : json(body, indent);
}

export const JAVASCRIPT_TOPICS = {
  'one-price': ({ routes }: PatchValues): Patch =>
    part('prices.ts', 'ts', [
      '/** Prices in dollars. */',
      'export const PAID_ROUTES = {',
      ...routes.map(
        (route) =>
          `  ${js(nameRoute(route))}: { price: ${js(route.price)}, network: ${js(route.network)}, payTo: ${js(route.payTo)} },`,
      ),
      '} as const;',
      'type PaidRoute = keyof typeof PAID_ROUTES;',
      '',
      '/** For the route. */',
      'export function accepts(route: PaidRoute) {',
      '  const { price, network, payTo } = PAID_ROUTES[route];',
      "  return { scheme: 'exact', network, price: `$${price}`, payTo } as const;",
      '}',
      '',
      '/** For the operation in /openapi.json. */',
      'export function paymentInfo(route: PaidRoute) {',
      "  const price = { mode: 'fixed', currency: 'USD', amount: PAID_ROUTES[route].price };",
      '  return { price, protocols: [{ x402: {} }] };',
      '}',
    ]),
  'one-recipient': ({ routes: [{ payTo, network }] }: PatchValues): Patch =>
    part(
      'recipient.ts',
      'ts',
      isSolana(network)
        ? [
            '/** For each route, and for /.well-known/x402. */',
            `export const payTo = ${js(payTo)};`,
          ]
        : [
            "import { getAddress } from 'viem';",
            '',
            '/** For each route, and for /.well-known/x402. Throws at start on a wrong checksum. */',
            `export const payTo = getAddress(process.env['PAY_TO'] ?? ${js(payTo)});`,
          ],
    ),
  'base-url': ({ origin }: PatchValues): Patch =>
    part('links.ts', 'ts', [
      `export const BASE_URL = process.env['BASE_URL'] ?? ${js(origin)};`,
      '',
      '/** Write each URL in OpenAPI, llms.txt, manifest and agent card as link(route), with the path of the router. */',
      'export const link = (route: string): string => new URL(route, BASE_URL).href;',
    ]),
  tls: (): Patch =>
    whyNot('TLS ends before Node: renew the certificate at the proxy or platform (see nginx)'),
};

function discovery({ method }: PatchRoute): string[] {
  const hasNoBody = method === null || method === 'GET' || method === 'DELETE';
  return [
    '  extensions: declareDiscoveryExtension({',
    ...(hasNoBody ? [] : ["    bodyType: 'json',"]),
    "    input: { '<parameter>': '<example>' },",
    "    inputSchema: { properties: { '<parameter>': { type: 'string' } }, required: ['<parameter>'] },",
    "    output: { example: { '<member>': '<example>' } },",
    '  }),',
  ];
}

function schemeOf(network: string): string {
  return isSolana(network) ? 'ExactSvmScheme' : 'ExactEvmScheme';
}

function packageOf(scheme: string): string {
  return scheme === 'ExactSvmScheme' ? '@x402/svm' : '@x402/evm';
}
