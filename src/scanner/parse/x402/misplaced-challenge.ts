/** Finds what an answer without a readable challenge holds in place of one. P2 names it. */
import type { HttpData } from '../../model/observation.ts';
import { isJsonList, isJsonObject, type JsonValue, showJson } from '../json/json.ts';
import { headerValue } from '../text/http-header.ts';
import { cleanText } from '../text/text.ts';
import {
  type Challenge,
  type ChallengeReading,
  type HeaderReading,
  parseChallenge,
  readChallenge,
} from './challenge.ts';
import { findOwnTerms, X402_HEADER, X402_WORD } from './own-terms.ts';
import { decodeLoosely } from './payment-header.ts';

/** In order of precedence: the surest signs of a seller who speaks x402 come first. */
export const MISPLACEMENTS = [
  'other-status',
  'other-header',
  'raw-json',
  'base64url',
  'nested',
  'not-a-challenge',
  'undecodable',
  'no-terms',
] as const;
export type Misplacement = {
  readonly kind: (typeof MISPLACEMENTS)[number];
  /** Completes "GET /weather: 402 …"; safe for evidence. */
  readonly text: string;
  /**
   * A cause that the place gives away: FastAPI's HTTPException, a server that ties 401 to WWW-Authenticate, a page for
   * browsers, or terms in a form of the seller's own. Under another status than 402, "misplaced" is a challenge that clients would not find under 402 either.
   */
  readonly cause?: 'detail' | 'authenticate' | 'misplaced' | 'page' | 'own-form';
};

type Place = { readonly pointer: string; readonly value: JsonValue; readonly depth: number };
type Terms = { readonly pointer: string; readonly isEncoded: boolean };

const PAYMENT_REQUIRED = 'payment-required';
const WHOLE_IN_HEADER = 'PAYMENT-REQUIRED';
const WHOLE_IN_BODY = 'the body';
const VERSIONS: ReadonlySet<JsonValue | undefined> = new Set([1, 2, '1', '2']);
const MAX_HEADERS = 100;
const MAX_HEADER_CHARS = 16_384;
const MAX_NAME_CHARS = 40;
const MAX_POINTER_CHARS = 60;
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
/** The base64 text inside the value of a header such as `x402 terms="eyJ…"`. */
const ENCODED_TERMS = /[A-Za-z0-9+/_-]{40,}={0,2}/;
const PERCENT_TERMS = /%(?:7b|5b)[^\s"';,]*/i;
/** A receipt. Middlewares in Java and Go put a challenge there if their facilitator is away, and answer 500. */
const RECEIPT_HEADER = /^(?:x-)?payment-response$/;

/**
 * Returns null for an answer that needs no other name than its status: a readable challenge on a 402, or another
 * status without one.
 */
export function findMisplacement(answer: HttpData): Misplacement | null {
  const reading = readChallenge(answer);
  if (answer.status === 402) return reading.challenge === null ? findIn402(answer, reading) : null;
  const place = findWholeChallenge(answer, reading);
  if (place === null) return null;
  const text = `with a whole challenge in ${place}: clients read it only on 402`;
  const cause = findCause(answer, place);
  return { kind: 'other-status', text, ...(cause === null ? {} : { cause }) };
}

function findCause(answer: HttpData, place: string): NonNullable<Misplacement['cause']> | null {
  if (place.startsWith('/detail')) return 'detail';
  if (answer.status === 401 && headerValue(answer, 'www-authenticate') !== null) {
    return 'authenticate';
  }
  return place === WHOLE_IN_HEADER || place === WHOLE_IN_BODY ? null : 'misplaced';
}

/**
 * Returns true if a 402 shows that its seller speaks x402, or tries to: by a challenge, wherever it stands, by a header of
 * the protocol, or by its name.
 */
export function hasTraceOfX402(answer: HttpData): boolean {
  const misplacement = findMisplacement(answer);
  if (misplacement?.kind !== 'no-terms') {
    return misplacement !== null || readChallenge(answer).challenge !== null;
  }
  return (
    answer.headers.some(([name]) => X402_HEADER.test(name)) ||
    X402_WORD.test(answer.body.slice(0, MAX_HEADER_CHARS))
  );
}

function findIn402(answer: HttpData, { header, body }: ChallengeReading): Misplacement {
  const encoding = findEncodingFault(header);
  if (encoding !== null) return encoding;
  const otherHeader = findOtherHeader(answer);
  if (otherHeader !== null) {
    const text = `with the challenge in ${otherHeader}, which clients do not read`;
    return { kind: 'other-header', text };
  }
  if (header.state === 'ok') return describeNoChallenge('PAYMENT-REQUIRED', header.value);
  const value = body.ok ? body.value : answer.body;
  if (isJsonObject(value) && (value['x402Version'] ?? value['accepts']) !== undefined) {
    return describeNoChallenge('the body', value);
  }
  const terms = findTerms(value);
  if (terms !== null) return describeNested('the body', terms);
  if (header.state === 'absent') return findOwnTerms(answer);
  const text = `with PAYMENT-REQUIRED ${showJson(header.raw, MAX_NAME_CHARS)}: ${header.detail}`;
  if (header.state === 'not-an-object') return { kind: 'not-a-challenge', text };
  return { kind: header.state === 'raw-json' ? 'raw-json' : 'undecodable', text };
}

/** Finds terms in PAYMENT-REQUIRED that a client would read if they were encoded as the transport says. */
function findEncodingFault(header: HeaderReading): Misplacement | null {
  if (header.state !== 'raw-json' && header.state !== 'base64url') return null;
  const value = decodeLoosely(header.raw);
  if (value === null || findTerms(value) === null) return null;
  return header.state === 'raw-json'
    ? { kind: 'raw-json', text: 'with PAYMENT-REQUIRED as JSON that is not base64-encoded' }
    : { kind: 'base64url', text: 'with PAYMENT-REQUIRED in base64url: it has "-" or "_"' };
}

function describeNoChallenge(place: string, value: JsonValue): Misplacement {
  const accepts = isJsonObject(value) ? value['accepts'] : undefined;
  if (accepts !== undefined) {
    const text = `with ${place} that is not a challenge: /accepts is ${showJson(accepts, MAX_NAME_CHARS)}, not a list`;
    return { kind: 'not-a-challenge', text };
  }
  const terms = findTerms(value);
  if (terms !== null) return describeNested(place, terms);
  const text = `with ${place} that is not a challenge, without accepts: ${showJson(value, MAX_POINTER_CHARS)}`;
  return { kind: 'not-a-challenge', text };
}

function describeNested(place: string, { pointer, isEncoded }: Terms): Misplacement {
  if (pointer === '' && !isEncoded) {
    return { kind: 'nested', text: `with an offer, not in a list accepts, at the top of ${place}` };
  }
  const at = pointer === '' ? 'at the top' : `at ${cleanText(pointer, MAX_POINTER_CHARS)}`;
  const form = isEncoded ? 'as a text ' : '';
  return {
    kind: 'nested',
    text: `with offers ${form}${at} of ${place}: clients read x402Version and accepts at the top`,
    ...(pointer.startsWith('/detail/') ? { cause: 'detail' } : {}),
  };
}

/** Names the place of a challenge that a client could read under status 402; null if there is none. */
function findWholeChallenge(answer: HttpData, { header, body }: ChallengeReading): string | null {
  if (header.state !== 'absent') {
    const value = header.state === 'ok' ? header.value : decodeLoosely(header.raw);
    if (value !== null && isWhole(value)) return WHOLE_IN_HEADER;
  }
  const otherHeader = findOtherHeader(answer);
  if (otherHeader !== null || !body.ok) return otherHeader;
  // A list may hold the challenges of others, as a directory does.
  const place = findPlace(body.value, ({ value }) => isWhole(value), isJsonObject);
  if (place === null) return null;
  const { pointer } = place;
  return pointer === '' ? WHOLE_IN_BODY : `${cleanText(pointer, MAX_POINTER_CHARS)} of the body`;
}

/** A version and an offer together are a challenge, not a document that lists what is sold. */
function isWhole(value: JsonValue): boolean {
  if (!isJsonObject(value) || !VERSIONS.has(value['x402Version'])) return false;
  const { accepts } = value;
  return isJsonList(accepts) && accepts.some(isOffer);
}

/** Returns the name of a header that holds terms, in capitals as documents print it; null if there is none. */
export function findOtherHeader({ headers, status }: HttpData): string | null {
  for (const [name, value] of headers.slice(0, MAX_HEADERS)) {
    if (name === PAYMENT_REQUIRED || (RECEIPT_HEADER.test(name) && status !== 402)) continue;
    const terms = decodeInside(value.slice(0, MAX_HEADER_CHARS));
    if (terms !== null && findTerms(terms) !== null) {
      return cleanText(name.toUpperCase(), MAX_NAME_CHARS);
    }
  }
  return null;
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

/** Finds the first offers, level by level. A text may hold them as JSON or as base64 of JSON. */
function findTerms(value: JsonValue): Terms | null {
  let decodedTexts = 0;
  const isEncodedTerms = (text: JsonValue): boolean => {
    if (typeof text !== 'string' || text.length < MIN_TERMS_CHARS) return false;
    decodedTexts += 1;
    return decodedTexts <= MAX_TEXTS_DECODED && isChallengeOrOffers(decodeLoosely(text));
  };
  const place = findPlace(
    value,
    (each) => isOffers(each.value) || isEncodedTerms(each.value),
    (each) => isJsonObject(each) || isJsonList(each),
  );
  return place && { pointer: place.pointer, isEncoded: typeof place.value === 'string' };
}

/** Searches level by level, within limits of depth and number, in the values that `hasPlaces` accepts. */
function findPlace(
  top: JsonValue,
  isSought: (place: Place) => boolean,
  hasPlaces: (value: JsonValue) => boolean,
): Place | null {
  const queue: Place[] = [{ pointer: '', value: top, depth: 0 }];
  // The queue grows while it is read.
  for (const place of queue) {
    if (isSought(place)) return place;
    if (place.depth < MAX_DEPTH && hasPlaces(place.value)) {
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

function isOffer(value: JsonValue | undefined): boolean {
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
