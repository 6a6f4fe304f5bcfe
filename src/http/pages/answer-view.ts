import type { PayableBy } from '../../model/payability.ts';
import { protocolText } from '../../parse/x402/more-sold.ts';
import { networkName } from '../../parse/x402/networks.ts';
import type { Preflight, PreflightOffer, ReasonCode } from '../../preflight/result.ts';
import { localScan, type Requested, scanRequest } from './page-text.ts';

/** The answer to what a visitor typed; `problem` is set if it could not be asked. */
export type AnswerView =
  | { readonly problem: string; readonly search: string | null }
  | (ReturnType<typeof answerView> & { readonly problem: null });

export type PreflightAnswer = Requested & {
  readonly preflight: Preflight;
  /** The address that was asked; null if the origin names none. */
  readonly path: string | null;
};

const VERDICTS = {
  go: { mark: '✓', word: 'Go', sentence: 'An agent can pay this.' },
  caution: { mark: '!', word: 'Caution', sentence: 'Look before an agent pays this.' },
  'no-go': { mark: '✗', word: 'No-go', sentence: 'An agent should not pay this.' },
} as const;

const PAYERS: Readonly<Record<PayableBy, string>> = {
  default: 'Clients as they come',
  settings: 'Only clients with other settings',
  unknown: 'Not known: no official client has its scheme',
  nobody: 'Nobody',
};

const REASONS: Readonly<Record<ReasonCode, string>> = {
  refused: 'The scanner does not ask this address.',
  unreachable: 'Nothing answers at this address.',
  not_found: 'There is nothing at this address.',
  server_error: 'The server answers with an error.',
  no_challenge: 'It wants a payment, and does not say to whom or how much.',
  other_protocol: 'It wants a payment over another protocol than x402.',
  nobody_can_pay: 'No official client can pay it.',
  invalid_challenge: 'Its challenge breaks the specification.',
  other_origin: 'Its challenge is for another origin.',
  over_max_price: 'It costs more than the limit.',
  some_over_max_price: 'Some offers cost more than the limit.',
  price_unknown: 'The price of some offers is not known.',
  not_asked: 'It was not asked.',
  no_answer: 'It did not answer within a second.',
  no_payment_asked: 'It answers without a payment.',
  not_challenged: 'It does not ask for a payment.',
  settings_only: 'Clients refuse it until their settings are changed.',
  unknown_scheme: 'No official client has its scheme and network.',
  testnet_only: 'Every offer is on a test network.',
  pays_before_delivery: 'You pay before delivery, and no refund is known.',
  flawed_challenge: 'Its challenge has a flaw.',
  not_judged: 'Its challenge could not be judged.',
};

const MAX_OFFERS = 5;

export function answerView(answered: PreflightAnswer) {
  const { preflight, origin, path } = answered;
  const { verdict, reasons, terms, otherWays = [] } = preflight;
  const offers = terms?.offers ?? [];
  return {
    problem: null,
    asked: path === null ? origin : `GET ${origin}${path}`,
    verdict,
    ...VERDICTS[verdict],
    payers: terms?.payableBy ? PAYERS[terms.payableBy] : 'Not known',
    prices: offers.slice(0, MAX_OFFERS).map(priceText),
    otherWays: otherWays.map(protocolText).join(', '),
    furtherPrices: Math.max(0, offers.length - MAX_OFFERS),
    reasons: reasons.map(({ code, evidence }) => ({ sentence: REASONS[code], evidence })),
    whole: [localScan(answered), scanRequest(answered)],
  };
}

function priceText({ price, amount, asset, network }: PreflightOffer): string {
  const what = price ?? `${amount ?? '?'} base units of ${asset ?? '?'}`;
  return `${what} on ${network === null ? '?' : networkName(network)}`;
}
