import type { CannedScan } from '../../scanner/scan/fake-scanner.ts';

export const OFFER = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0xasset',
  amount: '50000',
  payTo: '0xpayto',
};

/** A scan that finds one paid resource with this offer. `changes` replaces other members of the scan. */
export function toSellerScan(changes: CannedScan = {}, offer = OFFER): CannedScan {
  const resource = { method: 'GET', path: '/weather' };
  const judged = {
    pointer: '/accepts/0',
    client: '@x402/evm',
    verdict: 'signs',
    words: null,
    ...offer,
  } as const;
  return {
    ...changes,
    report: {
      payableBy: 'default',
      payability: [{ ...resource, payableBy: 'default', words: null, offers: [judged] }],
      routes: {
        paid: [{ ...resource, template: null, description: null, mimeType: null, offers: [offer] }],
        signIn: [],
        free: [],
        isComplete: true,
      },
      ...changes.report,
    },
  };
}
