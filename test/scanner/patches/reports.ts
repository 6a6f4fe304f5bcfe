/** Saved reports with the members that patches read. */
import type { ReportRoute } from '../../../src/scanner/model/report.ts';
import type { PatchReport } from '../../../src/scanner/patches/patch-values.ts';

export const PAY_TO = '0x2222222222222222222222222222222222222222';

const OFFER = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '10000',
  payTo: PAY_TO,
};

/** Two routes with parameters, one without, one by POST. */
export const TEMPLATES = ['/weather/{city}', '/files/{name}.json', '/news', '/v1/{a}/x/{b-c}'];

export function paidRoute(
  template: string | null,
  { method = 'GET', ...offer }: { readonly method?: string | null } & Partial<typeof OFFER> = {},
): ReportRoute {
  return {
    method,
    template,
    path: (template ?? '/weather/example').replace(/\{[^}]*\}/g, 'example'),
    description: 'Weather, "now"',
    mimeType: 'application/json',
    offers: [{ ...OFFER, ...offer }],
  };
}

export function report(
  changes: {
    readonly origin?: string;
    readonly path?: string | null;
    readonly paid?: readonly ReportRoute[];
    readonly p7?: string;
  } & Partial<typeof OFFER> = {},
): PatchReport {
  const { origin = 'https://api.example.com', path = '/weather', p7 = 'consistent' } = changes;
  const { network = OFFER.network, amount = OFFER.amount } = changes;
  const terms = { network, amount };
  return {
    origin,
    results: [
      { id: 'P3', outcome: 'http-url' },
      { id: 'P7', outcome: p7 },
      { id: 'S3', outcome: 'none-declared' },
    ],
    routes: {
      paid: changes.paid ?? [
        paidRoute(path, terms),
        paidRoute('/summaries', { ...terms, method: 'POST', amount: '20000' }),
      ],
      signIn: [],
      free: [{ method: 'GET', template: '/health' }],
      isComplete: true,
    },
  };
}

/** Unescaped, these texts would end a literal, a comment, a line or a block. */
export const HOSTILE_PATHS = [
  `/a';process.exit(1);'`,
  '/a"+__import__("os").system("id")+"',
  ['/a`+$', '{1}+`'].join(''),
  '/a\\',
  '/a"""',
  '/a\nimport os',
  '/a\u2028b',
  '/a\u202eb',
  '/a */ b',
  '/../../etc/passwd',
  '/a";}location / {',
];
