import { toDoubleQuoted } from './literals.ts';
import {
  cannotFix,
  listSoldRoutes,
  type PaidExtras,
  type Patch,
  readPatch,
  type SoldRoute,
  writeBracketEntries,
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

/** The configuration of one paid route, in a variable. */
function writeSoldRoute(route: SoldRoute, { hasBazaar }: PaidExtras): string[] {
  const { network, price, payTo, description, mimeType, resource, token } = route;
  return [
    `${route.name} = {`,
    '    "accepts": {',
    '        "scheme": "exact",',
    `        "network": ${toDoubleQuoted(network)},`,
    ...(token === null ? [`        "price": ${toDoubleQuoted(`$${price}`)},`] : writeToken(token)),
    `        "payTo": ${toDoubleQuoted(payTo)},`,
    '    },',
    ...(resource === null ? [] : [`    "resource": ${toDoubleQuoted(resource)},`]),
    `    "description": ${toDoubleQuoted(description)},`,
    `    "mimeType": ${toDoubleQuoted(mimeType)},`,
    ...(hasBazaar ? writeDiscovery(route) : []),
    '}',
  ];
}

function writeDiscovery(route: PatchRoute): string[] {
  return [
    '    "extensions": declare_discovery_extension(',
    '        input={"<parameter>": "<example>"},',
    '        input_schema={',
    '            "properties": {"<parameter>": {"type": "string"}},',
    '            "required": ["<parameter>"],',
    '        },',
    ...(hasBody(route) ? ['        body_type="json",'] : []),
    '        output=OutputConfig(example={"<member>": "<example>"}),',
    '    ),',
  ];
}

/** A price in base units, with the EIP-712 domain of the token. */
function writeToken({ asset, amount, name, version }: PatchToken): string[] {
  return [
    '        "price": {',
    `            "amount": ${toDoubleQuoted(amount)},`,
    `            "asset": ${toDoubleQuoted(asset)},`,
    `            "extra": {"name": ${toDoubleQuoted(name)}, "version": ${toDoubleQuoted(version)}},`,
    '        },',
  ];
}

/** Writes the imports of the SDK, the server, and `routes` with every guarded route. */
export function writeGuardedRoutes(
  framework: 'fastapi' | 'flask',
  values: PatchValues,
  extras: PaidExtras,
): string[] {
  const suffix = framework === 'flask' ? 'Sync' : '';
  // A report does not name the networks of `signIns`.
  const networks = listNetworks(values.routes);
  const machines = [...new Set(networks.map(toMachine))];
  const guardedRoutes = listSoldRoutes(values, extras);
  return [
    `from x402 import x402ResourceServer${suffix}`,
    ...(extras.hasBazaar
      ? ['from x402.extensions.bazaar import OutputConfig, declare_discovery_extension']
      : []),
    `from x402.http import FacilitatorConfig, HTTPFacilitatorClient${suffix}`,
    `from x402.http.middleware.${framework} import payment_middleware`,
    ...machines.map(
      (machine) => `from x402.mechanisms.${machine}.exact import register_exact_${machine}_server`,
    ),
    '',
    `facilitator = HTTPFacilitatorClient${suffix}(FacilitatorConfig(url=os.environ["FACILITATOR_URL"]))`,
    `server = x402ResourceServer${suffix}(facilitator)`,
    ...networks.map(
      (network) =>
        `register_exact_${toMachine(network)}_server(server, ${toDoubleQuoted(network)})`,
    ),
    '',
    ...guardedRoutes.flatMap((route) => writeSoldRoute(route, extras)),
    '',
    '# List every route that you guard now. A route that is not in this list is free.',
    'routes = {',
    ...guardedRoutes
      .flatMap((route) => writeBracketEntries(route, framework, '#', 'in the decorator'))
      .map((line) => `    ${line}`),
    '}',
    '',
  ];
}

export const PYTHON_TOPICS = {
  'one-price': ({ routes }: PatchValues): Patch => {
    const entries = routes.map(
      (route) =>
        `    ${toDoubleQuoted(nameRoute(route))}: {"price": ${toDoubleQuoted(route.price)}, "network": ${toDoubleQuoted(route.network)}, "payTo": ${toDoubleQuoted(route.payTo)}},`,
    );
    return readPatch('python', 'prices.py', { routes: entries.join('\n') });
  },
  'one-recipient': ({ routes: [{ payTo, network }] }: PatchValues): Patch => {
    const source = `recipient_${toMachine(network)}.py`;
    return readPatch('python', 'recipient.py', { payTo: toDoubleQuoted(payTo) }, source);
  },
  'base-url': ({ origin }: PatchValues): Patch =>
    readPatch('python', 'links.py', { origin: toDoubleQuoted(origin) }),
  tls: (): Patch =>
    cannotFix('a proxy in front of Python ends TLS: renew the certificate there (see nginx)'),
};
