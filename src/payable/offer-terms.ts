/** The terms of an offer as reports show them: cleaned, cut, whatever the origin sent in their place. */
import type { OfferPayability } from '../model/payability.ts';
import type { JsonValue } from '../parse/json/json.ts';
import { showJson } from '../parse/json/show-json.ts';
import { cleanText } from '../parse/text/text.ts';
import type { Offer } from '../parse/x402/challenge.ts';

export type OfferTerms = Omit<OfferPayability, 'client' | 'verdict' | 'words'>;

/** Each offer is tried up to twice; real sellers offer few ways to pay. */
export const MAX_OFFERS = 64;

const MAX_TERM_CHARS = 120;

export function offerTerms({ pointer, scheme, network, asset, amount }: Offer): OfferTerms {
  return {
    pointer,
    scheme: shown(scheme),
    network: shown(network),
    asset: shown(asset),
    amount: shown(amount),
  };
}

function shown(value: JsonValue | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? cleanText(value, MAX_TERM_CHARS) : showJson(value);
}
