/** Go's net/http with github.com/x402-foundation/x402/go/v2. */
import { go, goText, json } from '../literals.ts';
import { type Patch, part, type ServedDocument, type StackPatches, whyNot } from '../patch.ts';
import type { PatchValues } from '../patch-values.ts';

const FILE = 'x402.go';
const MODULE = 'github.com/x402-foundation/x402/go/v2';

export const GO: StackPatches = {
  'paid-route': (values) => paidRoute(values),
  // `Resource` is the address that buyers see: without it the module writes http:// behind TLS.
  'public-url': (values) => paidRoute(values),
  'head-guard': (values) => paidRoute(values, { head: true }),
  bazaar: (values) => paidRoute(values, { bazaar: true }),
  'no-store': ({ path }) =>
    part('no_store.go', 'go', [
      'package main',
      '',
      'import "net/http"',
      '',
      '// noStore goes around the payment middleware, whose 402 has no Cache-Control.',
      'func noStore(next http.Handler) http.Handler {',
      '\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {',
      `\t\tif r.URL.Path == ${go(path)} {`,
      '\t\t\tw.Header().Set("Cache-Control", "no-store")',
      '\t\t}',
      '\t\tnext.ServeHTTP(w, r)',
      '\t})',
      '}',
    ]),
  'one-price': ({ price }) =>
    part('prices.go', 'go', [
      'package main',
      '',
      '// Price in dollars: the route asks "$" + Price, the operation in /openapi.json declares',
      '// "x-payment-info": PaymentInfo.',
      `const Price = ${go(price)}`,
      '',
      'var PaymentInfo = map[string]any{',
      '\t"price":     map[string]any{"mode": "fixed", "currency": "USD", "amount": Price},',
      '\t"protocols": []any{map[string]any{"x402": map[string]any{}}},',
      '}',
    ]),
  'one-recipient': ({ payTo, network }) =>
    part(
      'recipient.go',
      'go',
      network.startsWith('solana:')
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

type Extras = { readonly head?: boolean; readonly bazaar?: boolean };

function paidRoute(values: PatchValues, { head, bazaar }: Extras = {}): Patch {
  const { origin, method, path, network, price, payTo, description } = values;
  const isSolana = network.startsWith('solana:');
  const machine = isSolana ? 'svm' : 'evm';
  const keys = [method, ...(head ? ['HEAD'] : [])].map((name) => go(`${name} ${path}`));
  return part(FILE, 'go', [
    'package main',
    '',
    'import (',
    '\t"net/http"',
    '\t"os"',
    '\t"time"',
    '',
    ...(bazaar ? [`\t"${MODULE}/extensions/bazaar"`] : []),
    `\tx402http "${MODULE}/http"`,
    `\tnethttpmw "${MODULE}/http/nethttp"`,
    `\t${machine} "${MODULE}/mechanisms/${machine}/exact/server"`,
    ')',
    '',
    '// withPayments goes around the mux, before anything that reads the body.',
    'func withPayments(mux http.Handler) http.Handler {',
    ...(bazaar ? discovery(method) : []),
    '\tsold := x402http.RouteConfig{',
    '\t\tAccepts: x402http.PaymentOptions{{',
    '\t\t\tScheme:  "exact",',
    `\t\t\tNetwork: ${go(network)},`,
    `\t\t\tPrice:   ${go(`$${price}`)},`,
    `\t\t\tPayTo:   ${go(payTo)},`,
    '\t\t}},',
    `\t\tResource:    ${go(origin + path)},`,
    `\t\tDescription: ${go(description)},`,
    '\t\tMimeType:    "application/json",',
    ...(bazaar ? ['\t\tExtensions:  map[string]interface{}{bazaar.BAZAAR.Key(): discovery},'] : []),
    '\t}',
    '\treturn nethttpmw.X402Payment(nethttpmw.Config{',
    `\t\tRoutes: x402http.RoutesConfig{${keys.map((key) => `${key}: sold`).join(', ')}},`,
    '\t\tFacilitator: x402http.NewHTTPFacilitatorClient(&x402http.FacilitatorConfig{',
    '\t\t\tURL: os.Getenv("FACILITATOR_URL"),',
    '\t\t}),',
    `\t\tSchemes: []nethttpmw.SchemeConfig{{Network: ${go(network)}, Server: ${machine}.NewExact${isSolana ? 'Svm' : 'Evm'}Scheme()}},`,
    '\t\tTimeout: 30 * time.Second,',
    '\t})(mux)',
    '}',
  ]);
}

function discovery(method: string): readonly string[] {
  return [
    '\tdiscovery, err := bazaar.DeclareDiscoveryExtension(',
    `\t\tbazaar.Method${method},`,
    '\t\tmap[string]interface{}{"<parameter>": "<example>"},',
    '\t\tbazaar.JSONSchema{',
    '\t\t\t"properties": map[string]interface{}{"<parameter>": map[string]interface{}{"type": "string"}},',
    '\t\t\t"required":   []string{"<parameter>"},',
    '\t\t},',
    method === 'GET' || method === 'DELETE' ? '\t\t"",' : '\t\tbazaar.BodyTypeJSON,',
    '\t\t&bazaar.OutputConfig{Example: map[string]interface{}{"<member>": "<example>"}},',
    '\t)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
  ];
}

function serve({ path, contentType, body }: ServedDocument): string {
  // "GET /" alone would match each path.
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
