/**
 * Finds the terms of a payment at any place of a JSON value or a header. Terms are an offer, or a list of offers. In a 402
 * without any offer, finds terms that only people and the seller's own clients read.
 */
import type { HttpData } from '../../model/observation.ts';
import { isJsonList, isJsonObject, type JsonValue } from '../json/json.ts';
import { headerValue } from '../text/http-header.ts';
import { cleanText, quoteText } from '../text/text.ts';
import { type Challenge, parseChallenge } from './challenge.ts';
import { decodeLoosely } from './payment-header.ts';

type Place = { readonly pointer: string; readonly value: JsonValue; readonly depth: number };
/** `isEncoded` is true if the place is a text that holds the terms as JSON or as base64 of JSON. */
export type FoundTerms = { readonly pointer: string; readonly isEncoded: boolean };

const MAX_DEPTH = 8;
const MAX_VISITED = 2_000;
const MAX_MEMBERS = 50;
/** A shorter text cannot hold an offer. */
const MIN_TERMS_CHARS = 40;
const MAX_TEXTS_DECODED = 8;
/** Members of an offer, of both versions and in snake case. An object with `MIN_OFFER_MEMBERS` of them is an offer. */
const OFFER_MEMBER = /^(?:scheme|network|asset|pay_?to|amount|max_?amount_?required)$/i;
const MIN_OFFER_MEMBERS = 3;
/** Scheme, network, asset, recipient and amount. */
const MIN_WHOLE_MEMBERS = 5;
const MAX_POINTER_CHARS = 60;
/** The base64 text inside the value of a header such as `x402 terms="eyJ…"`. */
const ENCODED_TERMS = /[A-Za-z0-9+/_-]{40,}={0,2}/;
const PERCENT_TERMS = /%(?:7b|5b)[^\s"';,]*/i;

/** Finds the first offers, level by level. A text may hold them as JSON or as base64 of JSON. */
export function findTerms(value: JsonValue): FoundTerms | null {
  let decodedCount = 0;
  const isEncodedTerms = (text: JsonValue): boolean => {
    if (typeof text !== 'string' || text.length < MIN_TERMS_CHARS) return false;
    decodedCount += 1;
    return decodedCount <= MAX_TEXTS_DECODED && isChallengeOrOffers(decodeLoosely(text));
  };
  const place = findPlace(
    value,
    (candidate) => isOffers(candidate.value) || isEncodedTerms(candidate.value),
    (parent) => isJsonObject(parent) || isJsonList(parent),
  );
  return place && { pointer: place.pointer, isEncoded: typeof place.value === 'string' };
}

/** Searches level by level, within limits of depth and number. Enters only the values that `isEntered` accepts. */
export function findPlace(
  top: JsonValue,
  isSought: (place: Place) => boolean,
  isEntered: (value: JsonValue) => boolean,
): Place | null {
  const queue: Place[] = [{ pointer: '', value: top, depth: 0 }];
  // The queue grows while it is read.
  for (const place of queue) {
    if (isSought(place)) return place;
    if (place.depth < MAX_DEPTH && isEntered(place.value)) {
      queue.push(...listMembers(place).slice(0, MAX_VISITED - queue.length));
    }
  }
  return null;
}

function listMembers({ pointer, value, depth }: Place): readonly Place[] {
  if (!isJsonObject(value) && !isJsonList(value)) return [];
  return Object.entries(value)
    .slice(0, MAX_MEMBERS)
    .map(([name, member = null]) => {
      return { pointer: `${pointer}/${name}`, value: member, depth: depth + 1 };
    });
}

function isChallengeOrOffers(value: JsonValue | null): boolean {
  return value !== null && (parseChallenge(value, 'body') !== null || isOffers(value));
}

/** True for an offer, and for a list that begins with one. */
function isOffers(value: JsonValue): boolean {
  return isOffer(value) || (isJsonList(value) && isOffer(value[0]));
}

export function isOffer(value: JsonValue | undefined): boolean {
  return countOfferMembers(value) >= MIN_OFFER_MEMBERS;
}

function countOfferMembers(value: JsonValue | undefined): number {
  if (!isJsonObject(value)) return 0;
  const names = Object.keys(value).slice(0, MAX_MEMBERS);
  return names.filter((name) => OFFER_MEMBER.test(name)).length;
}

/**
 * Returns the pointer of a list of whole offers that stands beside `accepts` in a challenge; null if there is none.
 * Clients read only `accepts`, which some sellers fill with terms for people.
 */
export function findOffersBeside({ value }: Pick<Challenge, 'value'>): string | null {
  // The example of an extension may show the offers of others.
  const { accepts: _, extensions: __, ...others } = value;
  const isWholeList = ({ value: list }: Place) =>
    isJsonList(list) && countOfferMembers(list[0]) >= MIN_WHOLE_MEMBERS;
  const place = findPlace(others, isWholeList, isJsonObject);
  return place && cleanText(place.pointer, MAX_POINTER_CHARS);
}

/** Finds the terms in the value of a header, which may stand there as JSON or encoded, beside other parameters. */
export function findTermsInHeader(value: string): FoundTerms | null {
  const terms = decodeInside(value);
  return terms === null ? null : findTerms(terms);
}

function decodeInside(value: string): JsonValue | null {
  const start = value.search(/[{[]/);
  const end = Math.max(value.lastIndexOf('}'), value.lastIndexOf(']'));
  if (start !== -1 && end > start) {
    const json = value.slice(start, end + 1);
    // A quoted parameter has a backslash before each quotation mark (RFC 9110, 5.6.4).
    return decodeLoosely(json) ?? decodeLoosely(json.replace(/\\(.)/g, '$1'));
  }
  const [encoded] = PERCENT_TERMS.exec(value) ?? ENCODED_TERMS.exec(value) ?? [];
  return encoded === undefined ? null : decodeLoosely(encoded);
}

export type OwnTerms = {
  readonly kind: 'other-header' | 'page' | 'own-terms' | 'no-terms';
  /** Completes "GET /weather: 402 …"; safe for evidence. */
  readonly text: string;
};

export const X402_HEADER = /^(?:x-)?payment(?:-|$)|x402/;
export const X402_WORD = /x402|x-payment|payment-(?:signature|required)/i;
/** A network or an asset behind the authentication scheme `Payment`: `Payment id="1", network="eip155:8453"`. */
const X402_AUTH_PARAMETERS = /^payment[ \t].{0,400}\b(?:network|asset)[ \t]*=/i;
const TERMS_PARAMETER = /\b(?:amount|network|price|asset)[ \t]*=/i;
const TERMS_HEADER = /amount|price|pay-?to|recipient|network/;
/** A member of JSON that states what to pay or whom. */
const OWN_PRICE =
  /"[a-z0-9_]{0,40}(?:price|amount|cost|quote|pay_?to|recipient|treasury)[a-z0-9_]{0,40}"\s*:/i;
const HTML_PAGE = /^\s*<(?:!doctype\s+html|html|head|body)[\s>]/i;
const MAX_HEADERS = 100;
const MAX_READ_CHARS = 16_384;
const MAX_NAME_CHARS = 40;
const MAX_BODY_CHARS = 60;

/** Says what a 402 without any offer holds: terms that only people and the seller's own clients read, or nothing. */
export function findOwnTerms(answer: HttpData): OwnTerms {
  const authenticate = headerValue(answer, 'www-authenticate') ?? '';
  const speaksX402 = X402_WORD.test(authenticate) || X402_AUTH_PARAMETERS.test(authenticate);
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
    return { kind: 'page', text };
  }
  if (OWN_PRICE.test(answer.body.slice(0, MAX_READ_CHARS))) {
    const text = `with a price in a form that no client reads: ${quoteText(answer.body, MAX_BODY_CHARS)}`;
    return { kind: 'own-terms', text };
  }
  return { kind: 'no-terms', text: 'with neither PAYMENT-REQUIRED nor a challenge in the body' };
}
