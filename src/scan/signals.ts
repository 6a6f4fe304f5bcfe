import type { IndexedOrigin, Lookup } from '../model/observations.ts';
import type { CheckResult, Signals } from '../model/report.ts';

export function toSignals(
  results: readonly CheckResult[],
  x402scan: Lookup<IndexedOrigin>,
): Signals {
  const holds = (id: string): boolean =>
    results.some(
      (result) => result.id === id && result.status === 'pass' && result.basis === 'measured',
    );
  return {
    registeredIndex: holds('D1'),
    // An unobserved settlement is no proof of none, so interface spec 2.3 has no false here.
    hasRecentSettlement: holds('D3') ? true : null,
    indexOwnershipVerified: x402scan.state === 'seen' && x402scan.data.ownershipVerified === true,
    onEcosystemListing: holds('D5'),
  };
}
