/** The challenges of a scan as clients would read them; runs on a worker, because origins wrote them. */
import type { ResourceSet } from '../model/observations.ts';
import { createKit } from '../parse/kit/create-kit.ts';
import { claimedNamespace } from '../parse/x402/networks.ts';
import { MAX_OFFERS, type OfferTerms, offerTerms } from './offer-terms.ts';
import type { SeenChallenge } from './try-challenge.ts';

export type ListedChallenge = {
  readonly method: string;
  readonly path: string;
  readonly seen: SeenChallenge;
  /** Whether an offer names Solana, whose packages take their time to load. */
  readonly solana: boolean;
  readonly offers: readonly OfferTerms[];
};

/** One for each resource that challenged, in the order of the scan. */
export function listChallenges(resources: ResourceSet): readonly ListedChallenge[] {
  return createKit()
    .challenged(resources)
    .map(({ resource, probe, answer, reading }) => ({
      method: probe.method,
      path: resource.path,
      seen: {
        headers: answer.headers.filter(([name]) => name === 'payment-required'),
        body: answer.body,
      },
      solana: reading.challenge.offers.some(
        ({ network }) => claimedNamespace(network) === 'solana',
      ),
      offers: reading.challenge.offers.slice(0, MAX_OFFERS).map(offerTerms),
    }));
}
