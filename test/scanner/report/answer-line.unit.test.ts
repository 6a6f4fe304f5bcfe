import { describe, expect, test } from 'vitest';
import type {
  OfferVerdict,
  PayableBy,
  ResourcePayability,
} from '../../../src/scanner/model/payability.ts';
import { toAnswerLine } from '../../../src/scanner/report/answer-line.ts';
import { toSummary } from '../../../src/scanner/scan/grade-observations.ts';
import { USDC_BASE } from '../../fixtures/observations/build-observations.ts';

function toResource(
  payableBy: PayableBy,
  verdict: OfferVerdict,
  amount = '10000',
  words: string | null = null,
): ResourcePayability {
  const terms = { scheme: 'exact', network: 'eip155:8453', asset: USDC_BASE, amount };
  const offer = { pointer: '/accepts/0', ...terms, client: '@x402/evm', verdict, words };
  return { method: 'GET', path: '/a', payableBy, words, offers: [offer] };
}

function toLine(...resources: readonly ResourcePayability[]) {
  return toAnswerLine(toSummary({ clients: [], resources, silent: [] }));
}

const FAILED_CHECK = {
  ...{ id: 'P3', title: 'x', category: 'protocol' as const, severity: 'critical' as const },
  ...{
    status: 'fail' as const,
    basis: 'measured' as const,
    outcome: 'x',
    evidence: 'x',
    fix: 'do',
  },
};

describe('the answer line', () => {
  test('is yes if default clients can pay everything', () => {
    expect(toLine(toResource('default', 'signs', '20000'), toResource('default', 'signs'))).toBe(
      'Yes: default clients can pay 2 of 2 resources, from $0.01, USDC on Base',
    );
    expect(toLine(toResource('default', 'signs', '2500'))).toBe(
      'Yes: default clients can pay 1 of 1 resource, from $0.0025, USDC on Base',
    );
  });

  test('is partly if default clients can pay some resources', () => {
    expect(toLine(toResource('default', 'signs'), toResource('nobody', 'refuses'))).toBe(
      'Partly: default clients can pay 1 of 2 resources, from $0.01, USDC on Base',
    );
    const silent = [{ method: 'GET', path: '/b' }];
    const payability = { clients: [], resources: [toResource('default', 'signs')], silent };
    expect(toAnswerLine(toSummary(payability))).toMatch(/^Partly: default clients can pay 1 of 2/);
  });

  test('quotes the official client if default clients cannot pay', () => {
    expect(toLine(toResource('nobody', 'refuses', '1', 'no domain'))).toBe(
      'No: default clients can pay 0 of 1 resource, the official client says "no domain"',
    );
    expect(toLine(toResource('settings', 'limited', '9000000', 'over $1'))).toBe(
      'Only with settings: asks $9.00, and default clients refuse, the official client says "over $1"',
    );
  });

  test('says a price over a dollar in dollars', () => {
    const tenThousand = toResource('settings', 'limited', '10000000000', 'over $1');
    const fiveThousand = toResource('settings', 'limited', '5000000000', 'over $1');
    expect(toLine(tenThousand)).toMatch(/^Only with settings: asks \$10,000\.00, and default/);
    expect(toLine(tenThousand, fiveThousand)).toContain('asks $5,000.00 to $10,000.00, and');
    expect(toLine(toResource('default', 'signs'), tenThousand)).toBe(
      'Partly: default clients can pay 1 of 2 resources, from $0.01, USDC on Base; 1 more asks $10,000.00',
    );
    expect(toLine(toResource('nobody', 'refuses', '10000000000', 'no domain'))).toMatch(
      / says "no domain" \(it asks \$10,000\.00\)$/,
    );
    expect(toLine(toResource('settings', 'limited', '1000000', 'no'))).not.toContain('asks');
  });

  test('names the fault that the evidence of P3 names, or else that of P4', () => {
    const summary = toSummary({
      ...{ clients: [], silent: [] },
      resources: [toResource('nobody', 'refuses', '1', 'no domain')],
    });
    const toFailure = (id: string, evidence: string) => ({ ...FAILED_CHECK, id, evidence });
    const p3 = toFailure('P3', '1 of 1: GET /a /accepts/0/extra/version: missing; GET /b too');
    const p4 = toFailure('P4', '2 of 2: GET /a no PAYMENT-REQUIRED; POST /b no PAYMENT-REQUIRED');
    expect(toAnswerLine({ ...summary, results: [p4, p3] })).toBe(
      'No: GET /a /accepts/0/extra/version: missing, the official client says "no domain"',
    );
    expect(toAnswerLine({ ...summary, results: [p4] })).toBe(
      'No: GET /a no PAYMENT-REQUIRED, the official client says "no domain"',
    );
  });

  test('names the member that the client refused, with its words once', () => {
    const summary = toSummary({
      ...{ clients: [], silent: [] },
      resources: [toResource('nobody', 'refuses', '1', 'Invalid address')],
    });
    const evidence =
      '1 of 1: GET /a /accepts/0/payTo: "0x12\\n" (the official client says "Invalid; address"); more';
    const p3 = { ...FAILED_CHECK, id: 'P3', evidence };
    expect(toAnswerLine({ ...summary, results: [p3] })).toBe(
      'No: GET /a /accepts/0/payTo: "0x12\\n", the official client says "Invalid address"',
    );
  });

  test('distinguishes what clients sign from what facilitators accept', () => {
    const words = 'clients sign it, facilitators refuse it: /accepts/0/extra/name is "USDC"';
    expect(toLine(toResource('nobody', 'refuses', '1', words))).toBe(`No: ${words}`);
    expect(toLine(toResource('settings', 'refuses', '1', words))).toBe(
      `Only with settings: default clients take an offer first that cannot be settled: ${words}`,
    );
    expect(toLine(toResource('unknown', 'refuses', '1', 'ERC-7710'))).toBe(
      'Not known: the specification allows this offer and the official client refuses it with "ERC-7710"',
    );
  });

  test.each([
    ['P1', 'dns', 'GET /: dns', 'Not known: api.example does not resolve.'],
    ['P1', 'tls-expired', 'GET /: x', 'Not known: the certificate of api.example has expired.'],
    ['P1', 'limits', 'x', 'Not known: api.example could not be reached.'],
    [
      'P2',
      'none-found',
      'nothing declares a paid path: /openapi.json: 404',
      'Not known: nothing on api.example declares a paid path.',
    ],
    [
      'P2',
      'none-found',
      '/openapi.json serves its paid operations from https://b.example',
      'Not known: /openapi.json serves its paid operations from https://b.example.',
    ],
    ['P2', 'no-402', 'GET /a: 500', 'No: nothing here asked for a payment (GET /a: 500).'],
    ['P2', 'unpaid', 'GET /a: 200', 'No: paid routes answer without a payment (GET /a: 200).'],
    ['P2', 'no-application', 'no application runs', 'No: no application runs at api.example.'],
    ['P2', 'no-terms', 'GET /a: 402', 'No: a 402 without terms, so nobody can pay (GET /a: 402).'],
    [
      'P2',
      'every-path',
      'every path asks for a payment',
      'Not known: every path of api.example asks for a payment, and none says what it sells.',
    ],
    ...[
      'other-status',
      'other-header',
      'raw-json',
      'base64url',
      'nested',
      'not-a-challenge',
      'undecodable',
    ].map((outcome) => [
      'P2',
      outcome,
      'GET /a: 402 with it elsewhere',
      'No: the seller asks for a payment in a form that clients do not read (GET /a: 402 with it elsewhere).',
    ]),
    [
      'P2',
      'other-protocol',
      'the 402 asks over MPP, not over x402: GET /a: 402 (MPP)',
      'No: the 402 asks over MPP, not over x402: GET /a: 402 (MPP).',
    ],
  ])(
    'states the evidence if %s ends in %s with the evidence "%s"',
    (id, outcome, evidence, line) => {
      const results = [{ ...FAILED_CHECK, id, outcome, evidence }];
      const summary = toSummary({ clients: [], resources: [], silent: [] });
      expect(toAnswerLine({ ...summary, origin: 'https://api.example', results })).toBe(line);
    },
  );

  test('says why the answer is not known, or that nothing asks for a payment', () => {
    expect(toLine(toResource('unknown', 'unsupported'))).toMatch(/^Not known: no official client/);
    expect(toAnswerLine(toSummary(null))).toMatch(/^Not known: this scan is from before/);
    expect(toLine()).toBe('No: nothing here asked for a payment.');
  });
});

describe('`payableBy` of an origin', () => {
  test('is the best value among its resources', () => {
    const summarize = (...names: readonly PayableBy[]) =>
      toSummary({
        clients: [],
        resources: names.map((name) => toResource(name, 'signs')),
        silent: [],
      }).payableBy;
    expect(summarize('nobody', 'default')).toBe('default');
    expect(summarize('nobody', 'unknown', 'settings')).toBe('settings');
    expect(summarize('nobody', 'unknown')).toBe('unknown');
    expect(summarize('nobody')).toBe('nobody');
    expect(summarize()).toBeNull();
    expect(toSummary(null)).toMatchObject({ payability: null, payableBy: 'unknown' });
  });
});
