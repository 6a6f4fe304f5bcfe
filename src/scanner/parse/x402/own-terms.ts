/** Finds terms that only people and a seller's own clients read, in a 402 without any offer of x402. */
import type { HttpData } from '../../model/observation.ts';
import { headerValue } from '../text/http-header.ts';
import { cleanText, quoteText } from '../text/text.ts';

export type OwnTerms = {
  readonly kind: 'other-header' | 'no-terms';
  /** Completes "GET /weather: 402 …"; safe for evidence. */
  readonly text: string;
  readonly cause?: 'page' | 'own-form';
};

export const X402_HEADER = /^(?:x-)?payment(?:-|$)|x402/;
export const X402_WORD = /x402|x-payment|payment-(?:signature|required)/i;
/** A price or a network beside the protocol's name: `Payment method="x402", network="eip155:8453"`. */
const X402_SCHEME = /^payment[ \t].{0,400}\b(?:network|asset)[ \t]*=/i;
const TERMS_PARAMETER = /\b(?:amount|network|price|asset)[ \t]*=/i;
const TERMS_HEADER = /amount|price|pay-?to|recipient|network/;
/** A member of JSON that states what to pay or whom. */
const OWN_PRICE =
  /"[a-z0-9_]{0,40}(?:price|amount|cost|pay_?to|recipient|treasury)[a-z0-9_]{0,40}"\s*:/i;
const HTML_PAGE = /^\s*<(?:!doctype\s+html|html|head|body)[\s>]/i;
const MAX_HEADERS = 100;
const MAX_READ_CHARS = 16_384;
const MAX_NAME_CHARS = 40;
const MAX_BODY_CHARS = 60;

/** Says what a 402 without any offer holds: terms that only people and the seller's own clients read, or nothing. */
export function findOwnTerms(answer: HttpData): OwnTerms {
  const authenticate = headerValue(answer, 'www-authenticate') ?? '';
  const speaksX402 = X402_WORD.test(authenticate) || X402_SCHEME.test(authenticate);
  if (speaksX402 && TERMS_PARAMETER.test(authenticate)) {
    const text = 'with the terms as parameters of WWW-AUTHENTICATE, which clients do not read';
    return { kind: 'other-header', text };
  }
  const names = answer.headers.slice(0, MAX_HEADERS).map(([name]) => name);
  const termsHeader = names.find((name) => X402_HEADER.test(name) && TERMS_HEADER.test(name));
  if (termsHeader !== undefined) {
    const name = cleanText(termsHeader.toUpperCase(), MAX_NAME_CHARS);
    const text = `with the terms in headers of its own (${name}), which clients do not read`;
    return { kind: 'other-header', text };
  }
  if (HTML_PAGE.test(answer.body)) {
    const text = 'with a page for browsers, and neither PAYMENT-REQUIRED nor a challenge as JSON';
    return { kind: 'no-terms', text, cause: 'page' };
  }
  if (OWN_PRICE.test(answer.body.slice(0, MAX_READ_CHARS))) {
    const text = `with a price in a form that no client reads: ${quoteText(answer.body, MAX_BODY_CHARS)}`;
    return { kind: 'no-terms', text, cause: 'own-form' };
  }
  return { kind: 'no-terms', text: 'with neither PAYMENT-REQUIRED nor a challenge in the body' };
}
