import { python } from './literals.ts';
import { type PaidExtras, type Patch, part, whyNot } from './patch.ts';
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

/** The configuration of one paid route, under `name`. */
function soldRoute(
  name: string,
  route: PatchRoute,
  values: PatchValues,
  { bazaar }: PaidExtras,
): string[] {
  const { network, price, payTo, description, mimeType } = route;
  const resource = toResourceUrl(values, route);
  return [
    `${name} = {`,
    '    "accepts": {',
    '        "scheme": "exact",',
    `        "network": ${python(network)},`,
    `        "price": ${python(`$${price}`)},`,
    `        "payTo": ${python(payTo)},`,
    '    },',
    ...(resource === null ? [] : [`    "resource": ${python(resource)},`]),
    `    "description": ${python(description)},`,
    `    "mimeType": ${python(mimeType)},`,
    ...(bazaar ? discovery(route) : []),
    '}',
  ];
}

/** Configurations and `routes`; `syntax` is the framework's own way to write a path. */
export function guardedRoutes(
  values: PatchValues,
  syntax: RouteSyntax,
  extras: PaidExtras = {},
): string[] {
  const guarded = nameGuardedRoutes(values);
  return [
    ...guarded.flatMap(({ name, route }) => soldRoute(name, route, values, extras)),
    '',
    '# List every route that is guarded today: a route that is not in this list is free.',
    'routes = {',
    ...guarded.flatMap(({ name, route }) => routeEntries(route, name, syntax)),
    '}',
  ];
}

function routeEntries(route: PatchRoute, name: string, syntax: RouteSyntax): string[] {
  const { template } = route;
  if (template === null) return [`    # ${unknownRoute(route)}`, `    ROUTE: ${name},`];
  const path = writeRoute(template, 'brackets');
  const own = writeRoute(template, syntax);
  return [
    ...(own === path ? [] : [`    # ${own} in the decorator`]),
    ...guardedKeys(route, path).map((key) => `    ${python(key)}: ${name},`),
  ];
}

/** The extras of the package ("evm", "svm") that the networks need. */
export function listMachines(values: PatchValues): readonly string[] {
  return [...new Set(listNetworks(values).map(machineOf))];
}

export function registrations(values: PatchValues): string[] {
  return listNetworks(values).map((network) => {
    const machine = machineOf(network);
    return `register_exact_${machine}_server(server, ${python(network)})`;
  });
}

export function machineImports(values: PatchValues): string[] {
  return listMachines(values).map(
    (machine) => `from x402.mechanisms.${machine}.exact import register_exact_${machine}_server`,
  );
}

function machineOf(network: string): 'evm' | 'svm' {
  return isSolana(network) ? 'svm' : 'evm';
}

export function bazaarImport(bazaar: boolean): readonly string[] {
  return bazaar
    ? ['from x402.extensions.bazaar import OutputConfig, declare_discovery_extension']
    : [];
}

export const PYTHON_TOPICS = {
  'one-price': ({ routes }: PatchValues): Patch =>
    part('prices.py', 'python', [
      '# Prices in dollars.',
      'PAID_ROUTES = {',
      ...routes.map(
        (route) =>
          `    ${python(nameRoute(route))}: {"price": ${python(route.price)}, "network": ${python(route.network)}, "payTo": ${python(route.payTo)}},`,
      ),
      '}',
      '',
      '',
      'def accepts(route: str) -> dict:',
      '    """For the route."""',
      '    return {"scheme": "exact", **PAID_ROUTES[route], "price": "$" + PAID_ROUTES[route]["price"]}',
      '',
      '',
      'def payment_info(route: str) -> dict:',
      '    """For the operation in /openapi.json."""',
      '    price = {"mode": "fixed", "currency": "USD", "amount": PAID_ROUTES[route]["price"]}',
      '    return {"price": price, "protocols": [{"x402": {}}]}',
    ]),
  'one-recipient': ({ routes: [{ payTo, network }] }: PatchValues): Patch =>
    part(
      'recipient.py',
      'python',
      isSolana(network)
        ? ['# For each route, and for /.well-known/x402.', `PAY_TO = ${python(payTo)}`]
        : [
            'import os',
            '',
            'from eth_utils import is_checksum_address',
            '',
            '# For each route, and for /.well-known/x402.',
            `PAY_TO = os.environ.get("PAY_TO", ${python(payTo)})`,
            'if not is_checksum_address(PAY_TO) and PAY_TO != PAY_TO.lower():',
            '    raise SystemExit("PAY_TO has a wrong checksum")',
          ],
    ),
  'base-url': ({ origin }: PatchValues): Patch =>
    part('links.py', 'python', [
      'import os',
      'from urllib.parse import urljoin',
      '',
      `BASE_URL = os.environ.get("BASE_URL", ${python(origin)})`,
      '',
      '',
      'def link(route: str) -> str:',
      '    """For each address in OpenAPI, llms.txt, manifest and agent card."""',
      '    return urljoin(BASE_URL, route)',
    ]),
  tls: (): Patch =>
    whyNot('TLS ends before Python: renew the certificate at the proxy (see nginx)'),
};

function discovery({ method }: PatchRoute): string[] {
  const reads = method === null || method === 'GET' || method === 'DELETE';
  return [
    '    "extensions": declare_discovery_extension(',
    '        input={"<parameter>": "<example>"},',
    '        input_schema={',
    '            "properties": {"<parameter>": {"type": "string"}},',
    '            "required": ["<parameter>"],',
    '        },',
    ...(reads ? [] : ['        body_type="json",']),
    '        output=OutputConfig(example={"<member>": "<example>"}),',
    '    ),',
  ];
}
