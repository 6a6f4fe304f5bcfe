/** What the patches of FastAPI and Flask have in common. */
import { python } from './literals.ts';
import { type Patch, part, whyNot } from './patch.ts';
import type { PatchValues } from './patch-values.ts';

/** The configuration of the paid route, as `sold`. */
export function soldRoute(values: PatchValues, { bazaar = false } = {}): readonly string[] {
  const { origin, path, network, price, payTo, description } = values;
  return [
    'sold = {',
    '    "accepts": {',
    '        "scheme": "exact",',
    `        "network": ${python(network)},`,
    `        "price": ${python(`$${price}`)},`,
    `        "payTo": ${python(payTo)},`,
    '    },',
    `    "resource": ${python(origin + path)},`,
    `    "description": ${python(description)},`,
    '    "mimeType": "application/json",',
    ...(bazaar ? discovery(values) : []),
    '}',
  ];
}

/** "evm" or "svm", as in the names of the package. */
export function machineOf({ network }: PatchValues): string {
  return network.startsWith('solana:') ? 'svm' : 'evm';
}

export function bazaarImport(bazaar: boolean): readonly string[] {
  return bazaar
    ? ['from x402.extensions.bazaar import OutputConfig, declare_discovery_extension']
    : [];
}

export const PYTHON_TOPICS = {
  'one-price': ({ price, network, payTo }: PatchValues): Patch =>
    part('prices.py', 'python', [
      `PRICE = ${python(price)}`,
      '',
      '# For the route.',
      `ACCEPTS = {"scheme": "exact", "network": ${python(network)}, "price": f"\${PRICE}", "payTo": ${python(payTo)}}`,
      '',
      '# For the operation in /openapi.json.',
      'PAYMENT_INFO = {',
      '    "price": {"mode": "fixed", "currency": "USD", "amount": PRICE},',
      '    "protocols": [{"x402": {}}],',
      '}',
    ]),
  'one-recipient': ({ payTo, network }: PatchValues): Patch =>
    part(
      'recipient.py',
      'python',
      network.startsWith('solana:')
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

function discovery({ method }: PatchValues): readonly string[] {
  const reads = method === 'GET' || method === 'DELETE';
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
