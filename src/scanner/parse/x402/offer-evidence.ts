/** Describes offers for evidence and fixes: the faults of an unsound offer, what is unknown, the words of a client. */
import { REFUSED_WHOLE_PREFIX, SIGNED_UNSOUND_PREFIX } from '../../model/payability.ts';
import { type JsonValue, jsonObject, showJson } from '../json/json.ts';
import { quoteText } from '../text/text.ts';
import type { Offer } from './challenge.ts';
import { describeFault, fixFaults, type OfferFault } from './fault-fixes.ts';
import {
  findOfferFaults,
  isUnknownPair,
  isUnknownScheme,
  listLackedMembers,
} from './offer-faults.ts';
import { findSchemeRow, hasOtherContract, isPaidMethod } from './schemes.ts';

const MAX_MESSAGE_CHARS = 110;
/** Each of our messages about an offer that a client signs begins so (model/payability.ts). */
const SIGNED_START = 'clients sign it';

/** Lists the faults, each with its pointer. The client's message stands beside the fault that it names. */
export function describeFaults(
  faults: readonly OfferFault[],
  offer: Offer,
  version: 1 | 2,
  clientMessage: string | null = null,
): string {
  // A message about the version of the challenge says nothing of the offer.
  const isOfVersion = clientMessage?.includes('No client registered for x402 version') ?? false;
  const message = isOfVersion ? null : clientMessage;
  const isSigned = message?.startsWith(SIGNED_START) ?? false;
  const note = isSigned ? ` (${SIGNED_UNSOUND_PREFIX})` : quoteClient(message);
  // A client that signs names no fault, so the note stands beside the first.
  const namedFault = isSigned ? faults[0] : findNamedFault(faults, message ?? '');
  const texts = faults.map((fault) => describeFault(fault) + (fault === namedFault ? note : ''));
  // A fault of the network explains the unknown pair, so the pair need not be named too.
  const hasNetworkFault = faults.some(({ pointer }) => pointer.endsWith('/network'));
  const isPairNamed = isUnknownPair(offer, version) && (isUnknownScheme(offer) || !hasNetworkFault);
  const unknown = isPairNamed ? [describeUnknown(offer)] : [];
  return [...unknown, ...texts].join('; ') + (namedFault === null ? note : '');
}

/** A challenge that lacks its version often has bad offers too: one fix names both. */
export function fixVersion([offer]: readonly Offer[]): string {
  const offerFix = offer === undefined ? '' : fixFaults(findOfferFaults(offer, 2), offer, 2);
  return `Set x402Version to the number 2${offerFix === '' ? '' : `; ${offerFix}`}.`;
}

/** Names what is unknown, the scheme first. An unknown scheme need not have the members of `exact`. */
export function describeUnknown(offer: Offer): string {
  const { pointer, scheme, network } = offer;
  if (!isUnknownScheme(offer)) {
    return `${pointer}: ${showJson(scheme)} on ${showJson(network)} is unknown to this catalog`;
  }
  const missingNames = listLackedMembers(offer);
  const rest =
    missingNames.length > 0 ? `; "exact" would also need ${missingNames.join(', ')}` : '';
  return `${pointer}/scheme: ${showJson(scheme)} is unknown to this catalog${rest}`;
}

/** Names the document that judges an offer whose scheme no client here has; null for other offers. */
export function describePassive({ pointer, scheme, network }: Offer): string | null {
  const row = findSchemeRow(scheme, network);
  if (row === null || row.client !== null) return null;
  const pair = `${showJson(scheme)} on ${showJson(network)}`;
  return `${pointer}: ${pair} is judged by ${row.specification?.file}; no client that we run pays it`;
}

/** Names the transfer method of a known scheme, by which no official client pays; null if clients pay by it. */
export function describeUnpaidMethod(offer: Offer, message: string | null): string | null {
  const { pointer, scheme, network } = offer;
  const row = findSchemeRow(scheme, network);
  if (row === null || isPaidMethod(offer)) return null;
  const { verifyingContract, name, assetTransferMethod } = jsonObject(offer.extra);
  if (hasOtherContract(offer)) {
    return `${pointer}/extra/verifyingContract: ${showJson(verifyingContract)} is not the token: ${showJson(name)} is another transfer method, and no official client pays by it`;
  }
  const isSpecified = row.methods?.some((method) => method === assetTransferMethod) ?? false;
  const source = isSpecified ? `in ${row.specification?.file}` : 'unknown to this catalog';
  return `${pointer}/extra/assetTransferMethod: ${showJson(assetTransferMethod)} is ${source}, and no official client pays by it${quoteClient(message)}`;
}

/** Quotes the message of a client. Returns an empty text without one, and for our message about a whole challenge. */
export function quoteClient(message: string | null): string {
  if (message === null || message.startsWith(REFUSED_WHOLE_PREFIX)) return '';
  return ` (the official client says ${quoteText(message, MAX_MESSAGE_CHARS)})`;
}

/**
 * Measured: clients throw for an entry of `accepts` that is not an object, and for an asset or an amount that is not a
 * text, wherever the offer stands.
 */
export function breaksChallenge({ kind, pointer, value }: OfferFault): boolean {
  const isReadOfEachOffer = /\/(?:asset|amount|maxAmountRequired)$/.test(pointer);
  return kind === 'bad-entry' || (isReadOfEachOffer && typeof value !== 'string');
}

/** Messages of the official clients about members that they do not name. */
const HINTS: readonly (readonly [message: RegExp, isAbout: (fault: OfferFault) => boolean])[] = [
  [/EIP-712/, ({ kind }) => kind === 'no-domain' || kind === 'wrong-domain'],
  // Clients add the timeout to the time of day, which gives no number.
  [/\bNaN\b/, ({ pointer }) => pointer.endsWith('/maxTimeoutSeconds')],
  [/\bBigInt\b/, ({ pointer }) => /\/(?:amount|maxAmountRequired)$/.test(pointer)],
  [/\btoLowerCase\b/, ({ pointer }) => pointer.endsWith('/asset')],
  [/No network\/scheme/, ({ pointer }) => /\/(?:network|scheme)$/.test(pointer)],
];

/** Finds the fault that the message is about. A single fault is always meant; null if it names none of several. */
function findNamedFault(faults: readonly OfferFault[], message: string): OfferFault | null {
  const [first] = faults;
  if (first === undefined) return null;
  if (faults.length === 1) return first;
  const hintedFaults = HINTS.flatMap(([hint, isAbout]) =>
    hint.test(message) ? faults.filter(isAbout) : [],
  );
  const quotedFaults = faults.filter(
    ({ value }) =>
      typeof value === 'string' &&
      // A message may contain one or two characters by chance, but not in quotation marks.
      ((value.length > 2 && message.includes(value)) || message.includes(JSON.stringify(value))),
  );
  const namedFaults = faults.filter(({ pointer, value }) => {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    return value === undefined && new RegExp(`\\b${name}\\b`).test(message);
  });
  return hintedFaults[0] ?? quotedFaults[0] ?? namedFaults[0] ?? null;
}

/** Shorter values may be in a message by chance. More values are compared here than in `findNamedFault`. */
const MIN_QUOTED_CHARS = 20;

/** Finds the member of a sound offer that the message quotes, or names in `extra`: "extra/feePayer"; null if none. */
export function findNamedMember(
  { entry, extra }: Offer,
  message: string,
): readonly [name: string, value: JsonValue | undefined] | null {
  const topMembers = Object.entries(jsonObject(entry)).filter(([name]) => name !== 'extra');
  const extraMembers = Object.entries(jsonObject(extra)).map(
    ([name, value]) => [`extra/${name}`, value] as const,
  );
  const namedMember = [...topMembers, ...extraMembers].find(([name, value]) => {
    const isQuoted =
      typeof value === 'string' && value.length >= MIN_QUOTED_CHARS && message.includes(value);
    // Other names, such as "amount", are common words.
    return isQuoted || (name.startsWith('extra/') && message.includes(name.slice('extra/'.length)));
  });
  return namedMember ?? null;
}
