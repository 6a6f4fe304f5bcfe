import type { OfferPayability, OfferVerdict } from '../../model/payability.ts';
import type { ScanReport } from '../../model/report.ts';
import { answerLine } from '../../payable/answer-line.ts';
import { money, toOfferPrice } from '../../payable/offer-price.ts';

const VERDICTS: Readonly<Record<OfferVerdict, { readonly mark: string; readonly about: string }>> =
  {
    signs: { mark: '✓', about: 'pays as it comes' },
    limited: { mark: '◐', about: 'pays once the buyer lifts its limits' },
    refuses: { mark: '✗', about: 'refuses' },
    unsupported: { mark: '–', about: 'no client here has it' },
  };

/** Null for a report that was stored before reports had `payableBy`. */
export function payableSection(report: ScanReport) {
  return {
    answer: answerLine(report),
    payableBy: report.payableBy,
    clients: report.clients.map(({ name, version }) => `${name} ${version}`).join(', '),
    resources: (report.payability ?? []).map(({ method, path, offers, words }) => ({
      name: `${method} ${path}`,
      words,
      offers: offers.map((offer) => ({
        ...offer,
        ...VERDICTS[offer.verdict],
        price: priceText(offer),
      })),
    })),
  };
}

/** "$0.01, USDC on Base"; null where the asset is unknown here. */
function priceText(offer: OfferPayability): string | null {
  const price = toOfferPrice(offer);
  return price === null ? null : `$${money(price.dollars)}, ${price.name}`;
}
