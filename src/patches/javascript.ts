/** What the patches of Express, Hono and Next have in common. */
import { js, json, jsTemplate } from './literals.ts';
import { type Patch, part, type ServedDocument, whyNot } from './patch.ts';
import type { PatchValues } from './patch-values.ts';

/** Imports of the SDK, without the middleware's own. */
export function sdkImports({ network }: PatchValues, { bazaar = false } = {}): readonly string[] {
  return [
    "import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';",
    `import { ${schemeOf(network)} } from '${packageOf(network)}/exact/server';`,
    ...(bazaar
      ? [
          "import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions/bazaar';",
        ]
      : []),
  ];
}

export function sdkServer({ network }: PatchValues, { bazaar = false } = {}): readonly string[] {
  return [
    "const facilitator = new HTTPFacilitatorClient({ url: process.env['FACILITATOR_URL'] });",
    `const server = new x402ResourceServer(facilitator).register(${js(network)}, new ${schemeOf(network)}())${
      bazaar ? '.registerExtension(bazaarResourceServerExtension)' : ''
    };`,
  ];
}

/** The configuration of the paid route, as `sold`. */
export function soldRoute(values: PatchValues, { bazaar = false } = {}): readonly string[] {
  const { origin, path, network, price, payTo, description } = values;
  return [
    'const sold = {',
    `  accepts: { scheme: 'exact', network: ${js(network)}, price: ${js(`$${price}`)}, payTo: ${js(payTo)} },`,
    `  resource: ${js(origin + path)},`,
    `  description: ${js(description)},`,
    "  mimeType: 'application/json',",
    ...(bazaar ? discovery(values) : []),
    '} as const;',
  ];
}

export function routeKey(method: string, path: string): string {
  return js(`${method} ${path}`);
}

/** The literal of a document's body, for `c.json(…)` and its like, or of a text. */
export function bodyLiteral({ body }: ServedDocument, indent = ''): string {
  return typeof body === 'string' ? jsTemplate(body) : json(body, indent);
}

export const JAVASCRIPT_TOPICS = {
  'one-price': ({ price, network, payTo }: PatchValues): Patch =>
    part('prices.ts', 'ts', [
      `export const PRICE = ${js(price)};`,
      '',
      '/** For the route. */',
      `export const accepts = { scheme: 'exact', network: ${js(network)}, price: \`$\${PRICE}\`, payTo: ${js(payTo)} } as const;`,
      '',
      '/** For the operation in /openapi.json. */',
      'export const paymentInfo = {',
      "  price: { mode: 'fixed', currency: 'USD', amount: PRICE },",
      '  protocols: [{ x402: {} }],',
      '};',
    ]),
  'one-recipient': ({ payTo, network }: PatchValues): Patch =>
    part(
      'recipient.ts',
      'ts',
      network.startsWith('solana:')
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
      '/** For each address in OpenAPI, llms.txt, manifest and agent card: link(route), as the router has it. */',
      'export const link = (route: string): string => new URL(route, BASE_URL).href;',
    ]),
  tls: (): Patch =>
    whyNot('TLS ends before Node: renew the certificate at the proxy or platform (see nginx)'),
};

function discovery({ method }: PatchValues): readonly string[] {
  const reads = method === 'GET' || method === 'DELETE';
  return [
    '  extensions: declareDiscoveryExtension({',
    ...(reads ? [] : ["    bodyType: 'json',"]),
    "    input: { '<parameter>': '<example>' },",
    "    inputSchema: { properties: { '<parameter>': { type: 'string' } }, required: ['<parameter>'] },",
    "    output: { example: { '<member>': '<example>' } },",
    '  }),',
  ];
}

function schemeOf(network: string): string {
  return network.startsWith('solana:') ? 'ExactSvmScheme' : 'ExactEvmScheme';
}

function packageOf(network: string): string {
  return network.startsWith('solana:') ? '@x402/svm' : '@x402/evm';
}
