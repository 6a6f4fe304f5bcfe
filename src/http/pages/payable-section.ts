import type { OfferPayability, OfferVerdict } from '../../model/payability.ts';
import type { ScanReport } from '../../model/report.ts';
import { formatDollars, toAnswerLine, toOfferPrice } from '../../report/answer-line.ts';
import { cutText } from './page-text.ts';

type CellText = { readonly mark: string; readonly about: string };

const VERDICT_TEXTS: Readonly<Record<OfferVerdict, CellText>> = {
  signs: { mark: '✓', about: 'pays with default settings' },
  limited: { mark: '◐', about: 'pays if its limits are raised' },
  refuses: { mark: '✗', about: 'refuses' },
  unsupported: { mark: '–', about: 'does not support the scheme' },
};
/** The cell of a client that does not try an offer, because another client pays on its network. */
const OTHER_CLIENT = { verdict: 'none', mark: '·', about: 'is for other networks' } as const;
/** This client parses challenges for the other clients, and never pays. */
const PARSING_CLIENT = '@x402/core';
/** These limits keep the page small. The API's report has every offer. */
const MAX_OFFERS = 12;
const MAX_OFFERS_BRIEF = 3;
const MAX_CELL_BYTES = 140;

export function toPayableSection(report: ScanReport, isBrief: boolean) {
  const maxOffers = isBrief ? MAX_OFFERS_BRIEF : MAX_OFFERS;
  const clients = report.clients.filter(({ name }) => name !== PARSING_CLIENT);
  const offers = (report.payability ?? []).flatMap(({ method, path, offers }) =>
    offers.map((offer) => ({ ...offer, resource: cutText(`${method} ${path}`, MAX_CELL_BYTES) })),
  );
  return {
    answer: toAnswerLine(report),
    payableBy: report.payableBy,
    clients,
    parsingClient: report.clients.find(({ name }) => name === PARSING_CLIENT) ?? null,
    rows: offers.slice(0, maxOffers).map((offer) => ({
      ...offer,
      price: writePrice(offer),
      asset: shorten(offer.asset ?? '?'),
      network: shorten(offer.network ?? '?'),
      cells: clients.map(({ name }) => toCell(offer, name)),
    })),
    furtherRows: Math.max(0, offers.length - maxOffers),
  };
}

function toCell({ client, verdict, words }: OfferPayability, clientName: string) {
  if (client !== clientName && verdict !== 'unsupported') return { ...OTHER_CLIENT, words: null };
  return {
    verdict,
    ...VERDICT_TEXTS[verdict],
    words: words === null ? null : cutText(words, MAX_CELL_BYTES),
  };
}

/** "$0.01, USDC on Base"; null if the scanner does not know the asset. */
function writePrice(offer: OfferPayability): string | null {
  const price = toOfferPrice(offer);
  return price === null ? null : `$${formatDollars(price.dollars)}, ${price.name}`;
}

/** "0x833589…2913". The API's report has the whole text. */
function shorten(text: string): string {
  return text.length > 24
    ? `${text.slice(0, 15).toWellFormed()}…${text.slice(-4).toWellFormed()}`
    : text;
}
