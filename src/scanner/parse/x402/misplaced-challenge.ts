/** Finds what an answer without a readable challenge holds in place of one. P2 names it. */
import type { HttpData } from '../../model/observation.ts';
import { isJsonList, isJsonObject, type JsonValue, showJson } from '../json/json.ts';
import { headerValue } from '../text/http-header.ts';
import { cleanText } from '../text/text.ts';
import type { ChallengeReading } from './challenge.ts';
import {
  type FoundTerms,
  findOwnTerms,
  findPlace,
  findTerms,
  findTermsInHeader,
  isOffer,
  X402_HEADER,
  X402_WORD,
} from './find-terms.ts';
import { decodeLoosely, type HeaderReading } from './payment-header.ts';

/** In order of precedence: the surest signs of a seller who speaks x402 come first. */
export const MISPLACEMENTS = [
  'other-status',
  'other-header',
  'raw-json',
  'base64url',
  'nested',
  'not-a-challenge',
  'undecodable',
  'own-terms',
  'page',
  'no-terms',
] as const;
export type Misplacement = {
  readonly kind: (typeof MISPLACEMENTS)[number];
  /** Completes "GET /weather: 402 …"; safe for evidence. */
  readonly text: string;
  /**
   * A cause that the place shows. `detail`: HTTPException of FastAPI. `authenticate`: a server that sends WWW-Authenticate
   * with 401. `misplaced`: the status is not 402, and under 402 clients would not find the challenge either.
   */
  readonly cause?: 'detail' | 'authenticate' | 'misplaced';
};

const PAYMENT_REQUIRED = 'payment-required';
const HEADER_PLACE = 'PAYMENT-REQUIRED';
const BODY_PLACE = 'the body';
const VERSIONS: ReadonlySet<JsonValue | undefined> = new Set([1, 2, '1', '2']);
const MAX_HEADERS = 100;
const MAX_HEADER_CHARS = 16_384;
const MAX_NAME_CHARS = 40;
const MAX_POINTER_CHARS = 60;
/**
 * Name of a receipt. Middlewares in Java and Go put a challenge there if their facilitator is away, and answer 500. That
 * challenge is not misplaced, so the header is searched only under status 402.
 */
const RECEIPT_HEADER = /^(?:x-)?payment-response$/;

/**
 * Returns null if the status says all about the answer: a 402 with a readable challenge, or another status without a
 * whole challenge.
 * @param reading the result of `readChallenge` for this answer
 */
export function findMisplacement(answer: HttpData, reading: ChallengeReading): Misplacement | null {
  if (answer.status === 402)
    return reading.challenge === null ? nameMisplacementIn402(answer, reading) : null;
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
  return place === HEADER_PLACE || place === BODY_PLACE ? null : 'misplaced';
}

/**
 * Returns true if an answer shows that its seller speaks x402, or tries to: by a challenge, wherever it stands, by a
 * header of the protocol, or by its name.
 */
export function hasTraceOfX402(answer: HttpData, reading: ChallengeReading): boolean {
  const misplacement = findMisplacement(answer, reading);
  if (misplacement === null) return reading.challenge !== null;
  return (
    !saysNothingOfX402(misplacement) ||
    answer.headers.some(([name]) => X402_HEADER.test(name)) ||
    X402_WORD.test(answer.body.slice(0, MAX_HEADER_CHARS))
  );
}

/** Returns true for a 402 with a page or a price at most: sellers over other protocols send these too. */
export function saysNothingOfX402({ kind }: Misplacement): boolean {
  return kind === 'no-terms' || kind === 'page' || kind === 'own-terms';
}

function nameMisplacementIn402(answer: HttpData, { header, body }: ChallengeReading): Misplacement {
  const encoding = findEncodingFault(header);
  if (encoding !== null) return encoding;
  const otherHeader = findOtherHeader(answer);
  if (otherHeader !== null) {
    const text = `with the challenge in ${otherHeader}, which clients do not read`;
    return { kind: 'other-header', text };
  }
  if (header.state === 'ok') return describeNoChallenge(HEADER_PLACE, header.value);
  const value = body.ok ? body.value : answer.body;
  if (isJsonObject(value) && (value['x402Version'] ?? value['accepts']) !== undefined) {
    return describeNoChallenge(BODY_PLACE, value);
  }
  const terms = findTerms(value);
  if (terms !== null) return describeNested(BODY_PLACE, terms);
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

function describeNested(place: string, { pointer, isEncoded }: FoundTerms): Misplacement {
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
    if (value !== null && isWhole(value)) return HEADER_PLACE;
  }
  const otherHeader = findOtherHeader(answer);
  if (otherHeader !== null || !body.ok) return otherHeader;
  // A list may hold the challenges of others, as a directory does.
  const place = findPlace(body.value, ({ value }) => isWhole(value), isJsonObject);
  if (place === null) return null;
  const { pointer } = place;
  return pointer === '' ? BODY_PLACE : `${cleanText(pointer, MAX_POINTER_CHARS)} of the body`;
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
    const hasTerms = findTermsInHeader(value.slice(0, MAX_HEADER_CHARS)) !== null;
    if (hasTerms) return cleanText(name.toUpperCase(), MAX_NAME_CHARS);
  }
  return null;
}
