/** Go's net/http with github.com/x402-foundation/x402/go/v2. */
import { toConstantName, toDoubleQuoted, toGoText, toJsonLiteral } from '../literals.ts';
import {
  cannotFix,
  listSoldRoutes,
  type PaidExtras,
  type Patch,
  readPatch,
  type ServedDocument,
  type SoldRoute,
  type StackPatches,
  toPaidTopics,
  toPatch,
  writeBracketEntries,
} from '../patch.ts';
import {
  hasBody,
  listNetworks,
  nameRoute,
  type PatchRoute,
  type PatchToken,
  type PatchValues,
  toMachine,
} from '../patch-values.ts';
import { toRoutePattern } from '../route-template.ts';

const FILE = 'x402.go';
const MODULE = 'github.com/x402-foundation/x402/go/v2';
const NEW_SCHEMES = { evm: 'evm.NewExactEvmScheme', svm: 'svm.NewExactSvmScheme' } as const;

export const GO: StackPatches = {
  ...toPaidTopics(writePaidRoutes),
  'no-store': ({ routes }) => readPatch('go', 'no_store.go', { pattern: writePattern(routes) }),
  'one-price': ({ routes }) => {
    const entries = routes.map(
      (route) => `\t${toDoubleQuoted(nameRoute(route))}: ${toDoubleQuoted(route.price)},`,
    );
    return readPatch('go', 'prices.go', { routes: entries.join('\n') });
  },
  'one-recipient': ({ routes: [{ payTo, network }] }) => {
    const source = `recipient_${toMachine(network)}.go`;
    return readPatch('go', 'recipient.go', { payTo: toDoubleQuoted(payTo) }, source);
  },
  'base-url': ({ origin }) => readPatch('go', 'links.go', { origin: toDoubleQuoted(origin) }),
  tls: () =>
    cannotFix('a proxy in front of Go usually ends TLS: renew the certificate there (see nginx)'),
  limiter: () =>
    cannotFix(
      'wrap the limiter in the payments, withPayments(limit(mux)): then only paid requests reach it',
    ),
  'own-server': () => readPatch('go', 'own_server.go'),
  serve: (document) =>
    toPatch(`${toConstantName(document.name).toLowerCase()}.go`, writeDocumentRoute(document)),
};

function writePattern(routes: readonly PatchRoute[]): string {
  const patterns = routes.map(({ template }) => template && toRoutePattern(template));
  return patterns.includes(null) ? 'ROUTE' : toDoubleQuoted([...new Set(patterns)].join('|'));
}

function writePaidRoutes(values: PatchValues, extras: PaidExtras): Patch {
  const { isBehindProxy, hasBazaar } = extras;
  const guardedRoutes = listSoldRoutes(values, extras);
  const networks = listNetworks(values.routes);
  const machines = [...new Set(networks.map(toMachine))];
  return toPatch(FILE, [
    'package main',
    '',
    'import (',
    ...(isBehindProxy ? ['\t"crypto/tls"'] : []),
    '\t"net/http"',
    '\t"os"',
    '\t"time"',
    '',
    ...(hasBazaar ? [`\t"${MODULE}/extensions/bazaar"`] : []),
    `\tx402http "${MODULE}/http"`,
    `\tnethttpmw "${MODULE}/http/nethttp"`,
    ...machines.map((machine) => `\t${machine} "${MODULE}/mechanisms/${machine}/exact/server"`),
    ')',
    '',
    '// withPayments wraps the mux. Put it before anything that reads the body.',
    'func withPayments(mux http.Handler) http.Handler {',
    ...guardedRoutes.flatMap((route) => writeSoldRoute(route, extras)),
    `\treturn ${isBehindProxy ? 'asPublic(' : ''}nethttpmw.X402Payment(nethttpmw.Config{`,
    '\t\t// List every route that you guard now. A route that is not in this list is free.',
    '\t\tRoutes: x402http.RoutesConfig{',
    ...guardedRoutes
      .flatMap((route) => writeBracketEntries(route, 'go', '//', 'on the mux'))
      .map((line) => `\t\t\t${line}`),
    '\t\t},',
    '\t\tFacilitator: x402http.NewHTTPFacilitatorClient(&x402http.FacilitatorConfig{',
    '\t\t\tURL: os.Getenv("FACILITATOR_URL"),',
    '\t\t}),',
    '\t\tSchemes: []nethttpmw.SchemeConfig{',
    ...networks.map(
      (network) =>
        `\t\t\t{Network: ${toDoubleQuoted(network)}, Server: ${NEW_SCHEMES[toMachine(network)]}()},`,
    ),
    '\t\t},',
    '\t\tTimeout: 30 * time.Second,',
    `\t})(mux)${isBehindProxy ? ')' : ''}`,
    '}',
    ...(isBehindProxy ? writeAsPublic(values) : []),
  ]);
}

/** A price in base units, with the EIP-712 domain of the token. */
function writeToken({ asset, amount, name, version }: PatchToken): readonly string[] {
  return [
    '\t\t\tPrice: map[string]interface{}{',
    `\t\t\t\t"amount": ${toDoubleQuoted(amount)},`,
    `\t\t\t\t"asset":  ${toDoubleQuoted(asset)},`,
    `\t\t\t\t"extra":  map[string]interface{}{"name": ${toDoubleQuoted(name)}, "version": ${toDoubleQuoted(version)}},`,
    '\t\t\t},',
  ];
}

function writeSoldRoute(route: SoldRoute, { hasBazaar }: PaidExtras): readonly string[] {
  const { name, network, price, payTo, description, mimeType, resource, token } = route;
  const discoveryName = `discovery${name.replace('sold', '')}`;
  return [
    ...(hasBazaar ? writeDiscovery(discoveryName, route) : []),
    `\t${name} := x402http.RouteConfig{`,
    '\t\tAccepts: x402http.PaymentOptions{{',
    '\t\t\tScheme:  "exact",',
    `\t\t\tNetwork: ${toDoubleQuoted(network)},`,
    ...(token === null ? [`\t\t\tPrice:   ${toDoubleQuoted(`$${price}`)},`] : writeToken(token)),
    `\t\t\tPayTo:   ${toDoubleQuoted(payTo)},`,
    '\t\t}},',
    ...(resource === null ? [] : [`\t\tResource:    ${toDoubleQuoted(resource)},`]),
    `\t\tDescription: ${toDoubleQuoted(description)},`,
    `\t\tMimeType:    ${toDoubleQuoted(mimeType)},`,
    ...(hasBazaar
      ? [`\t\tExtensions:  map[string]interface{}{bazaar.BAZAAR.Key(): ${discoveryName}},`]
      : []),
    '\t}',
  ];
}

/** The module builds the URL of a route with parameters from the request, so the request needs the public host. */
function writeAsPublic({ host }: PatchValues): readonly string[] {
  return [
    '',
    '// asPublic sets the public address, because requests from a proxy that ends TLS say http.',
    'func asPublic(next http.Handler) http.Handler {',
    '\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {',
    '\t\tpublic := r.Clone(r.Context())',
    `\t\tpublic.Host = ${toDoubleQuoted(host)}`,
    '\t\tpublic.TLS = &tls.ConnectionState{}',
    '\t\tnext.ServeHTTP(w, public)',
    '\t})',
    '}',
  ];
}

function writeDiscovery(name: string, route: PatchRoute): readonly string[] {
  return [
    `\t${name}, err := bazaar.DeclareDiscoveryExtension(`,
    `\t\tbazaar.Method${route.method ?? 'GET'},`,
    '\t\tmap[string]interface{}{"<parameter>": "<example>"},',
    '\t\tbazaar.JSONSchema{',
    '\t\t\t"properties": map[string]interface{}{"<parameter>": map[string]interface{}{"type": "string"}},',
    '\t\t\t"required":   []string{"<parameter>"},',
    '\t\t},',
    hasBody(route) ? '\t\tbazaar.BodyTypeJSON,' : '\t\t"",',
    '\t\t&bazaar.OutputConfig{Example: map[string]interface{}{"<member>": "<example>"}},',
    '\t)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
  ];
}

function writeDocumentRoute({ name, path, contentType, body }: ServedDocument): string[] {
  const serve = `serve${name[0]?.toUpperCase()}${name.slice(1)}`;
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
    `const ${name}Document = ${toGoText(typeof body === 'string' ? body : toJsonLiteral(body))}`,
    '',
    `// Call ${serve} with a mux outside the payment middleware.`,
    `func ${serve}(mux *http.ServeMux) {`,
    `\tmux.HandleFunc(${toDoubleQuoted(pattern)}, func(w http.ResponseWriter, _ *http.Request) {`,
    `\t\tw.Header().Set("Content-Type", ${toDoubleQuoted(contentType)})`,
    `\t\t_, _ = io.WriteString(w, ${name}Document)`,
    '\t})',
    '}',
  ];
}
