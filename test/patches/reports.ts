/** Saved reports, as far as patches read them. */
import type { PatchReport } from '../../src/patches/patch-values.ts';

export const PAY_TO = '0x2222222222222222222222222222222222222222';

const OFFER = {
  pointer: '/accepts/0',
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '10000',
  client: '@x402/evm',
  verdict: 'signs',
  words: null,
} as const;

export function report(changes: {
  readonly origin?: string;
  readonly path?: string;
  readonly network?: string;
  readonly amount?: string;
  readonly recipient?: string;
}): PatchReport {
  const { origin = 'https://api.example.com', path = '/weather', recipient = PAY_TO } = changes;
  const { network = OFFER.network, amount = OFFER.amount } = changes;
  const resource = (method: string, where: string, of: string) => ({
    ...{ method, path: where, payableBy: 'default' as const, words: null },
    offers: [{ ...OFFER, network, amount: of }],
  });
  return {
    origin,
    payability: [resource('GET', path, amount), resource('POST', '/summaries', '20000')],
    results: [
      { id: 'P3', outcome: 'http-url', evidence: '1 of 2: POST /summaries /resource/url: http://' },
      { id: 'P7', outcome: 'consistent', evidence: `2 of 2 resources: "eip155 ${recipient}"` },
      { id: 'S3', outcome: 'none-declared', evidence: '1 of 1 do not: GET /health' },
    ],
  };
}

/** Text that would end a literal, a comment, a line or a block, if it got there as it is. */
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
