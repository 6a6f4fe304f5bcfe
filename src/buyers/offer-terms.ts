import type { OfferPayability } from '../model/payability.ts';
import { type JsonValue, showJson } from '../parse/json/json.ts';
import { exactText } from '../parse/text/text.ts';
import type { Offer } from '../parse/x402/challenge.ts';

export type OfferTerms = Omit<OfferPayability, 'client' | 'verdict' | 'words'>;

/** Each offer is tried up to twice; real sellers have few offers. */
export const MAX_OFFERS = 64;

const MAX_TERM_CHARS = 120;

/** Formats terms for reports: cut, unseen characters escaped. */
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
  return typeof value === 'string' ? exactText(value, MAX_TERM_CHARS) : showJson(value);
}
