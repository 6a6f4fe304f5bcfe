/** A report in which every part of its page has something to show. */
import type { CannedScan } from '../../scan/fake-scanner.ts';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

export const REPORT: CannedScan = {
  grade: 'B',
  score: 86,
  results: {
    P3: {
      status: 'warn',
      outcome: 'limited',
      evidence: 'GET /weather /accepts/1: the official client says "over the limit"',
    },
    S5: { status: 'fail', outcome: 'absent', evidence: 'POST /summaries: no extensions.bazaar' },
    D1: {
      status: 'warn',
      basis: 'not_determined',
      outcome: 'offline',
      evidence: 'nobody was asked',
    },
  },
  report: {
    payableBy: 'default',
    clients: [{ name: '@x402/evm', version: '2.27.0' }],
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
};
