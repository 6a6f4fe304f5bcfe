import { toJsonLiteral, toJsString, toJsTemplate } from './literals.ts';
import {
  cannotFix,
  listSoldRoutes,
  type PaidExtras,
  type Patch,
  readPatch,
  type ServedDocument,
  type SoldRoute,
} from './patch.ts';
import {
  hasBody,
  listNetworks,
  nameRoute,
  type PatchRoute,
  type PatchToken,
  type PatchValues,
  toMachine,
} from './patch-values.ts';
import {
  type RouteSyntax,
  toGuardedKeys,
  toUnknownRouteNote,
  writeRoute,
} from './route-template.ts';

const SCHEME_CLASSES = { evm: 'ExactEvmScheme', svm: 'ExactSvmScheme' } as const;

/** Imports of the SDK, without those of the middleware. */
export function writeSdkImports(networks: readonly string[], { hasBazaar }: PaidExtras): string[] {
  const machines = [...new Set(networks.map(toMachine))];
  return [
    "import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';",
    ...machines.map(
      (machine) => `import { ${SCHEME_CLASSES[machine]} } from '@x402/${machine}/exact/server';`,
    ),
    ...(hasBazaar
      ? [
          "import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions/bazaar';",
        ]
      : []),
  ];
}

/** The server of the SDK, with the scheme of each network. */
export function writeSdkServer(networks: readonly string[], { hasBazaar }: PaidExtras): string[] {
  const calls = [
    ...networks.map(
      (network) => `.register(${toJsString(network)}, new ${SCHEME_CLASSES[toMachine(network)]}())`,
    ),
    ...(hasBazaar ? ['.registerExtension(bazaarResourceServerExtension)'] : []),
  ];
  return [
    "const facilitator = new HTTPFacilitatorClient({ url: process.env['FACILITATOR_URL'] });",
    'const server = new x402ResourceServer(facilitator)',
    ...calls.map((call, index) => `  ${call}${index === calls.length - 1 ? ';' : ''}`),
  ];
}

/** The configuration of one paid route, in a constant. */
export function writeSoldRoute(route: SoldRoute, { hasBazaar }: PaidExtras): string[] {
  const { network, price, payTo, description, mimeType, resource, token } = route;
  const priceLiteral = token === null ? toJsString(`$${price}`) : toTokenLiteral(token);
  return [
    `const ${route.name} = {`,
    `  accepts: { scheme: 'exact', network: ${toJsString(network)}, price: ${priceLiteral}, payTo: ${toJsString(payTo)} },`,
    ...(resource === null ? [] : [`  resource: ${toJsString(resource)},`]),
    `  description: ${toJsString(description)},`,
    `  mimeType: ${toJsString(mimeType)},`,
    ...(hasBazaar ? writeDiscovery(route) : []),
    '} as const;',
  ];
}

function writeDiscovery(route: PatchRoute): string[] {
  return [
    '  extensions: declareDiscoveryExtension({',
    ...(hasBody(route) ? ["    bodyType: 'json',"] : []),
    "    input: { '<parameter>': '<example>' },",
    "    inputSchema: { properties: { '<parameter>': { type: 'string' } }, required: ['<parameter>'] },",
    "    output: { example: { '<member>': '<example>' } },",
    '  }),',
  ];
}

/** A price in base units, with the EIP-712 domain of the token. */
function toTokenLiteral({ asset, amount, name, version }: PatchToken): string {
  const extra = `{ name: ${toJsString(name)}, version: ${toJsString(version)} }`;
  return `{ amount: ${toJsString(amount)}, asset: ${toJsString(asset)}, extra: ${extra} }`;
}

/** Import line and app line of each framework. */
const FRAMEWORKS = {
  express: ["import express from 'express';", 'export const app = express();'],
  hono: ["import { Hono } from 'hono';", 'export const app = new Hono();'],
} as const;
type Framework = keyof typeof FRAMEWORKS;

export function writeNewApp(framework: Framework): string[] {
  const [importLine, appLine] = FRAMEWORKS[framework];
  return [importLine, '', appLine];
}

/** Lines that set up the SDK, list every guarded route in `routes`, and create the app. */
export function writeGuardedApp(
  framework: Framework,
  values: PatchValues,
  extras: PaidExtras,
): string[] {
  const [importLine, appLine] = FRAMEWORKS[framework];
  // A report does not name the networks of `signIns`.
  const networks = listNetworks(values.routes);
  const guardedRoutes = listSoldRoutes(values, extras);
  return [
    ...writeSdkImports(networks, extras),
    `import { paymentMiddleware } from '@x402/${framework}';`,
    importLine,
    '',
    ...writeSdkServer(networks, extras),
    ...guardedRoutes.flatMap((route) => writeSoldRoute(route, extras)),
    '',
    '// List every route that you guard now. A route that is not in this list is free.',
    'const routes = {',
    ...guardedRoutes.flatMap(writeRouteEntries),
    '};',
    '',
    appLine,
  ];
}

function writeRouteEntries(route: SoldRoute): string[] {
  const { name, template } = route;
  if (template === null) return [`  // ${toUnknownRouteNote(route)}`, `  [ROUTE]: ${name},`];
  const path = writeRoute(template, 'middleware');
  return toGuardedKeys(route, path).map((key) => `  ${toJsString(key)}: ${name},`);
}

/** The path of the route as a string literal; the undefined name ROUTE if the path is unknown. */
export function toRouteLiteral({ template }: PatchRoute, syntax: RouteSyntax): string {
  return template === null ? 'ROUTE' : toJsString(writeRoute(template, syntax));
}

export function writeNoStore(framework: Framework, file: string, { routes }: PatchValues): Patch {
  const paths = routes.map((route) => toRouteLiteral(route, framework)).join(', ');
  return readPatch(framework, file, { routes: paths }, 'no-store.ts');
}

/** The body as source code: an object literal for JSON, a template string for text. */
export function toBodyLiteral({ body }: ServedDocument, indent = ''): string {
  return typeof body === 'string' ? toJsTemplate(body) : toJsonLiteral(body, indent);
}

export const JAVASCRIPT_TOPICS = {
  'one-price': ({ routes }: PatchValues): Patch => {
    const entries = routes.map(
      (route) =>
        `  ${toJsString(nameRoute(route))}: { price: ${toJsString(route.price)}, network: ${toJsString(route.network)}, payTo: ${toJsString(route.payTo)} },`,
    );
    return readPatch('javascript', 'prices.ts', { routes: entries.join('\n') });
  },
  'one-recipient': ({ routes: [{ payTo, network }] }: PatchValues): Patch => {
    const source = `recipient-${toMachine(network)}.ts`;
    return readPatch('javascript', 'recipient.ts', { payTo: toJsString(payTo) }, source);
  },
  'base-url': ({ origin }: PatchValues): Patch =>
    readPatch('javascript', 'links.ts', { origin: toJsString(origin) }),
  tls: (): Patch =>
    cannotFix(
      'a proxy or platform in front of Node ends TLS: renew the certificate there (see nginx)',
    ),
};
