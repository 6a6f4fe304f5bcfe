import type { OfferPayability, OfferVerdict } from '../../model/payability.ts';
import type { ScanReport } from '../../model/report.ts';
import { answerLine, money, toOfferPrice } from '../../words/answer-line.ts';
import { cutText } from './page-text.ts';

const VERDICTS: Readonly<Record<OfferVerdict, { readonly mark: string; readonly about: string }>> =
  {
    signs: { mark: '✓', about: 'pays as it comes' },
    limited: { mark: '◐', about: 'pays once its limits are lifted' },
    refuses: { mark: '✗', about: 'refuses' },
    unsupported: { mark: '–', about: 'has no such scheme' },
  };
const NOT_ITS = { verdict: 'none', mark: '·', about: 'is for other networks' } as const;
/** It reads challenges for the others, and pays none. */
const READER = '@x402/core';
/** The page stays small; the report of the API has every offer. */
const MAX_OFFERS = 12;
const MAX_OFFERS_BRIEF = 4;
const MAX_CELL_BYTES = 140;

/** Null for a report that was stored before reports had `payableBy`. */
export function payableSection(report: ScanReport, isBrief: boolean) {
  const maxOffers = isBrief ? MAX_OFFERS_BRIEF : MAX_OFFERS;
  const clients = report.clients.filter(({ name }) => name !== READER);
  const offers = (report.payability ?? []).flatMap(({ method, path, offers }) =>
    offers.map((offer) => ({ ...offer, resource: cutText(`${method} ${path}`, MAX_CELL_BYTES) })),
  );
  return {
    answer: answerLine(report),
    payableBy: report.payableBy,
    clients,
    reader: report.clients.find(({ name }) => name === READER) ?? null,
    rows: offers.slice(0, maxOffers).map((offer) => ({
      ...offer,
      price: priceText(offer),
      asset: shorten(offer.asset ?? '?'),
      network: shorten(offer.network ?? '?'),
      cells: clients.map(({ name }) => cellOf(offer, name)),
    })),
    furtherRows: Math.max(0, offers.length - maxOffers),
  };
}

function cellOf({ client, verdict, words }: OfferPayability, name: string) {
  if (client !== name && verdict !== 'unsupported') return { ...NOT_ITS, words: null };
  return {
    verdict,
    ...VERDICTS[verdict],
    words: words === null ? null : cutText(words, MAX_CELL_BYTES),
  };
}

/** "$0.01, USDC on Base"; null if the asset is unknown here. */
function priceText(offer: OfferPayability): string | null {
  const price = toOfferPrice(offer);
  return price === null ? null : `$${money(price.dollars)}, ${price.name}`;
}

/** "0x833589…2913"; the report of the API has the whole text. */
function shorten(text: string): string {
  return text.length > 24
    ? `${text.slice(0, 15).toWellFormed()}…${text.slice(-4).toWellFormed()}`
    : text;
}
