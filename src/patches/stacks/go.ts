/** Go's net/http with github.com/x402-foundation/x402/go/v2. */
import { go, goText, json } from '../literals.ts';
import {
  type PaidExtras,
  type Patch,
  paidTopics,
  part,
  type ServedDocument,
  type StackPatches,
  whyNot,
} from '../patch.ts';
import {
  guardedKeys,
  isSolana,
  listNetworks,
  nameGuardedRoutes,
  nameRoute,
  type PatchRoute,
  type PatchValues,
  toResourceUrl,
} from '../patch-values.ts';
import { routePattern, writeRoute } from '../route-template.ts';

const FILE = 'x402.go';
const MODULE = 'github.com/x402-foundation/x402/go/v2';

export const GO: StackPatches = {
  ...paidTopics(paidRoutes),
  'no-store': ({ routes }) =>
    part('no_store.go', 'go', [
      'package main',
      '',
      'import (',
      '\t"net/http"',
      '\t"regexp"',
      ')',
      '',
      `var sold = regexp.MustCompile(${patternOf(routes)})`,
      '',
      '// noStore goes around the payment middleware, whose 402 has no Cache-Control.',
      'func noStore(next http.Handler) http.Handler {',
      '\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {',
      '\t\tif sold.MatchString(r.URL.Path) {',
      '\t\t\tw.Header().Set("Cache-Control", "no-store")',
      '\t\t}',
      '\t\tnext.ServeHTTP(w, r)',
      '\t})',
      '}',
    ]),
  'one-price': ({ routes }) =>
    part('prices.go', 'go', [
      'package main',
      '',
      '// Prices in dollars: a route asks "$" + Prices[route], its operation in /openapi.json declares',
      '// "x-payment-info": PaymentInfo(route).',
      'var Prices = map[string]string{',
      ...routes.map((route) => `\t${go(nameRoute(route))}: ${go(route.price)},`),
      '}',
      '',
      'func PaymentInfo(route string) map[string]any {',
      '\treturn map[string]any{',
      '\t\t"price":     map[string]any{"mode": "fixed", "currency": "USD", "amount": Prices[route]},',
      '\t\t"protocols": []any{map[string]any{"x402": map[string]any{}}},',
      '\t}',
      '}',
    ]),
  'one-recipient': ({ routes: [{ payTo, network }] }) =>
    part(
      'recipient.go',
      'go',
      isSolana(network)
        ? [
            'package main',
            '',
            '// PayTo is for each route, and for /.well-known/x402.',
            `const PayTo = ${go(payTo)}`,
          ]
        : [
            'package main',
            '',
            'import "github.com/ethereum/go-ethereum/common"',
            '',
            '// PayTo is for each route, and for /.well-known/x402, with its checksum.',
            `var PayTo = common.HexToAddress(${go(payTo)}).Hex()`,
          ],
    ),
  'base-url': ({ origin }) =>
    part('links.go', 'go', [
      'package main',
      '',
      `const baseURL = ${go(origin)}`,
      '',
      '// link is for each address in OpenAPI, llms.txt, manifest and agent card.',
      'func link(route string) string { return baseURL + route }',
    ]),
  tls: () => whyNot('TLS mostly ends before Go: renew the certificate at the proxy (see nginx)'),
  serve: (document) => [{ file: FILE, language: 'go', code: serve(document) }],
};

function patternOf(routes: readonly PatchRoute[]): string {
  if (routes.some(({ template }) => template === null)) return 'ROUTE';
  const patterns = routes.flatMap(({ template }) =>
    template === null ? [] : [routePattern(template)],
  );
  return go([...new Set(patterns)].join('|'));
}

function paidRoutes(values: PatchValues, { proxy, bazaar }: PaidExtras): Patch {
  const guarded = nameGuardedRoutes(values);
  const networks = listNetworks(values);
  const machines = [...new Set(networks.map(machineOf))];
  return part(FILE, 'go', [
    'package main',
    '',
    'import (',
    ...(proxy ? ['\t"crypto/tls"'] : []),
    '\t"net/http"',
    '\t"os"',
    '\t"time"',
    '',
    ...(bazaar ? [`\t"${MODULE}/extensions/bazaar"`] : []),
    `\tx402http "${MODULE}/http"`,
    `\tnethttpmw "${MODULE}/http/nethttp"`,
    ...machines.map((machine) => `\t${machine} "${MODULE}/mechanisms/${machine}/exact/server"`),
    ')',
    '',
    '// withPayments goes around the mux, before anything that reads the body.',
    'func withPayments(mux http.Handler) http.Handler {',
    ...guarded.flatMap(({ name, route }) => soldRoute(name, route, values, bazaar)),
    `\treturn ${proxy ? 'asPublic(' : ''}nethttpmw.X402Payment(nethttpmw.Config{`,
    '\t\t// List every route that is guarded today: a route that is not in this list is free.',
    '\t\tRoutes: x402http.RoutesConfig{',
    ...guarded.flatMap(({ name, route }) => routeEntries(route, name)),
    '\t\t},',
    '\t\tFacilitator: x402http.NewHTTPFacilitatorClient(&x402http.FacilitatorConfig{',
    '\t\t\tURL: os.Getenv("FACILITATOR_URL"),',
    '\t\t}),',
    '\t\tSchemes: []nethttpmw.SchemeConfig{',
    ...networks.map(
      (network) =>
        `\t\t\t{Network: ${go(network)}, Server: ${machineOf(network)}.NewExact${isSolana(network) ? 'Svm' : 'Evm'}Scheme()},`,
    ),
    '\t\t},',
    '\t\tTimeout: 30 * time.Second,',
    `\t})(mux)${proxy ? ')' : ''}`,
    '}',
    ...(proxy ? asPublic(values) : []),
  ]);
}

function soldRoute(
  name: string,
  route: PatchRoute,
  values: PatchValues,
  bazaar = false,
): readonly string[] {
  const { network, price, payTo, description, mimeType } = route;
  const resource = toResourceUrl(values, route);
  const discovered = `discovery${name.replace('sold', '')}`;
  return [
    ...(bazaar ? discovery(discovered, route) : []),
    `\t${name} := x402http.RouteConfig{`,
    '\t\tAccepts: x402http.PaymentOptions{{',
    '\t\t\tScheme:  "exact",',
    `\t\t\tNetwork: ${go(network)},`,
    `\t\t\tPrice:   ${go(`$${price}`)},`,
    `\t\t\tPayTo:   ${go(payTo)},`,
    '\t\t}},',
    ...(resource === null ? [] : [`\t\tResource:    ${go(resource)},`]),
    `\t\tDescription: ${go(description)},`,
    `\t\tMimeType:    ${go(mimeType)},`,
    ...(bazaar
      ? [`\t\tExtensions:  map[string]interface{}{bazaar.BAZAAR.Key(): ${discovered}},`]
      : []),
    '\t}',
  ];
}

/** The x402 module writes parameters in brackets, the mux in braces. */
function routeEntries(route: PatchRoute, name: string): readonly string[] {
  const { template, example } = route;
  if (template === null) {
    const suffix = example === null ? '' : ` behind ${example}`;
    return [
      `\t\t\t// <route>${suffix}: define ROUTE as your mux has it, "[id]" for "{id}"; nothing compiles before.`,
      `\t\t\tROUTE: ${name},`,
    ];
  }
  const path = writeRoute(template, 'brackets');
  const own = writeRoute(template, 'go');
  return [
    ...(own === path ? [] : [`\t\t\t// ${own} on the mux`]),
    ...guardedKeys(route, path).map((key) => `\t\t\t${go(key)}: ${name},`),
  ];
}

/** The module builds the URL of a route with parameters from each request, so its host must be the public one. */
function asPublic({ host }: PatchValues): readonly string[] {
  return [
    '',
    '// asPublic stands behind a proxy that ends TLS: requests that it hands on say http.',
    'func asPublic(next http.Handler) http.Handler {',
    '\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {',
    '\t\tpublic := r.Clone(r.Context())',
    `\t\tpublic.Host = ${go(host)}`,
    '\t\tpublic.TLS = &tls.ConnectionState{}',
    '\t\tnext.ServeHTTP(w, public)',
    '\t})',
    '}',
  ];
}

function machineOf(network: string): 'evm' | 'svm' {
  return isSolana(network) ? 'svm' : 'evm';
}

function discovery(name: string, { method }: PatchRoute): readonly string[] {
  const verb = method ?? 'GET';
  return [
    `\t${name}, err := bazaar.DeclareDiscoveryExtension(`,
    `\t\tbazaar.Method${verb},`,
    '\t\tmap[string]interface{}{"<parameter>": "<example>"},',
    '\t\tbazaar.JSONSchema{',
    '\t\t\t"properties": map[string]interface{}{"<parameter>": map[string]interface{}{"type": "string"}},',
    '\t\t\t"required":   []string{"<parameter>"},',
    '\t\t},',
    verb === 'GET' || verb === 'DELETE' ? '\t\t"",' : '\t\tbazaar.BodyTypeJSON,',
    '\t\t&bazaar.OutputConfig{Example: map[string]interface{}{"<member>": "<example>"}},',
    '\t)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
  ];
}

function serve({ path, contentType, body }: ServedDocument): string {
  // "GET /" would match every path.
  const pattern = `GET ${path === '/' ? '/{$}' : path}`;
  return [
    'package main',
    '',
    'import (',
    '\t"io"',
    '\t"net/http"',
    ')',
    '',
    `const document = ${goText(typeof body === 'string' ? body : json(body))}`,
    '',
    '// serveDocument goes on the mux outside the payment middleware.',
    'func serveDocument(mux *http.ServeMux) {',
    `\tmux.HandleFunc(${go(pattern)}, func(w http.ResponseWriter, _ *http.Request) {`,
    `\t\tw.Header().Set("Content-Type", ${go(contentType)})`,
    '\t\t_, _ = io.WriteString(w, document)',
    '\t})',
    '}',
    '',
  ].join('\n');
}
