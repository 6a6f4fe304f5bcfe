/** A report that fills every part of its page. The score is computed from its results. */
import { scoreResults } from '../../../../src/scanner/engine/score.ts';
import type { CheckResult } from '../../../../src/scanner/model/report.ts';
import { readCatalog } from '../../../fixtures/service/test-catalog.ts';
import type { CannedScan } from '../../../scanner/scan/fake-scanner.ts';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';

type Change = Partial<Pick<CheckResult, 'status' | 'basis' | 'outcome' | 'evidence' | 'fix'>>;

/** A whole report in which every check passes that `changes` does not name. */
export function reportWith(
  changes: Readonly<Record<string, Change>>,
  more: Partial<NonNullable<CannedScan['report']>> = {},
): CannedScan {
  const results = readCatalog('2026-08-14.2').checks.map(({ id, title, category, severity }) => ({
    ...{ id, title, category, severity },
    ...{ status: 'pass' as const, basis: 'measured' as const, outcome: 'fine' },
    ...{ evidence: `Evidence of ${id}.`, fix: `Fix of ${id}.` },
    ...changes[id],
  }));
  const { score, grade, subScores } = scoreResults(results, { payableBy: more.payableBy ?? null });
  return { score, grade, report: { ...more, results, subScores } };
}

export const REPORT: CannedScan = reportWith(
  {
    P4: {
      status: 'fail',
      outcome: 'missing',
      evidence:
        '2 of 2: GET /weather: status 402 without PAYMENT-REQUIRED; POST /summaries: the same',
      fix: 'Send the challenge as base64 JSON in the PAYMENT-REQUIRED header of each 402.',
    },
    S1: {
      status: 'fail',
      outcome: 'absent',
      evidence:
        'GET /openapi.json: 404; neither /.well-known/openapi.json nor /api/openapi.json is one',
      fix: 'Serve an OpenAPI 3.1 document at /openapi.json.',
    },
    S2: {
      status: 'fail',
      basis: 'not_evaluated',
      outcome: 'prerequisite-failed',
      evidence: 'Not evaluated, see S1: there is no document',
    },
    S4: {
      status: 'fail',
      basis: 'not_evaluated',
      outcome: 'prerequisite-failed',
      evidence: 'Not evaluated, see S1: there is no document',
    },
    S5: {
      status: 'fail',
      outcome: 'absent',
      evidence: 'POST /summaries: no extensions.bazaar, neither in the header nor in the body',
      fix: 'Declare an input example with declareDiscoveryExtension.',
    },
    S7: {
      status: 'warn',
      outcome: 'no-summary',
      evidence: '/llms.txt has no summary: no line below "Weather" starts with ">"',
      fix: 'Add "> summary" below the H1 of /llms.txt.',
    },
    D1: {
      status: 'warn',
      basis: 'not_determined',
      outcome: 'offline',
      evidence: 'nobody was asked',
    },
  },
  {
    payableBy: 'default',
    clients: [
      { name: '@x402/core', version: '2.27.0' },
      { name: '@x402/evm', version: '2.27.0' },
      { name: '@x402/svm', version: '2.27.0' },
    ],
    routes: {
      paid: [
        {
          method: 'GET',
          template: '/weather',
          path: '/weather',
          offers: [
            {
              scheme: 'exact',
              network: 'eip155:8453',
              asset: USDC,
              amount: '10000',
              payTo: PAY_TO,
            },
          ],
          description: 'Weather of a city',
          mimeType: 'application/json',
        },
      ],
      signIn: [],
      free: [],
      isComplete: true,
    },
    payability: [
      {
        method: 'GET',
        path: '/weather',
        payableBy: 'default',
        words: null,
        offers: [
          {
            pointer: '/accepts/0',
            scheme: 'exact',
            network: 'eip155:8453',
            asset: USDC,
            amount: '10000',
            client: '@x402/evm',
            verdict: 'signs',
            words: null,
          },
          {
            pointer: '/accepts/1',
            scheme: 'exact',
            network: 'eip155:8453',
            asset: USDC,
            amount: '5000000',
            client: '@x402/evm',
            verdict: 'limited',
            words: 'amount is over the spend limit <b>1 USD</b>',
          },
          {
            pointer: '/accepts/2',
            scheme: 'exact',
            network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
            asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
            amount: '10000',
            client: '@x402/svm',
            verdict: 'refuses',
            words: 'feePayer is missing',
          },
        ],
      },
    ],
    advice: [
      {
        id: 'over-default-limit',
        evidence: 'GET /weather /accepts/1 asks $5.00',
        fix: 'Ask at most $1 a call, or tell buyers to raise their limit.',
      },
    ],
  },
);
