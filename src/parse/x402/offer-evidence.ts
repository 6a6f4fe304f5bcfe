/** Describes offers for evidence: all faults of an unsound offer, or why an offer is unknown to this catalog. */

import { showJson } from '../json/json.ts';
import { quoteText } from '../text/text.ts';
import type { Challenge, Offer } from './challenge.ts';
import { findMeantFault } from './client-words.ts';
import { findIllTypedMembers, type IllTypedMember } from './ill-typed.ts';
import { describeFault, type OfferFault } from './offer-fault.ts';
import { isUnknownPair, isUnknownScheme, listLackedMembers } from './offer-faults.ts';
import { findSchemeRow } from './schemes.ts';

const MAX_MESSAGE_CHARS = 110;
const SIGNED_NOTE = ' (clients sign it, facilitators refuse it)';

/** Lists the faults, each with its pointer. `words` are the client's, and stand beside the fault that they name. */
export function describeFaults(
  faults: readonly OfferFault[],
  offer: Offer,
  version: 1 | 2,
  words: string | null,
): string {
  const isSigned = words?.startsWith('clients sign it') ?? false;
  const note = isSigned ? SIGNED_NOTE : quoteClient(words);
  const meant = isSigned ? faults[0] : findMeantFault(faults, words ?? '');
  const texts = faults.map((fault) => describeFault(fault) + (fault === meant ? note : ''));
  const isNetworkNamed = faults.some(({ pointer }) => pointer.endsWith('/network'));
  const isLed = isUnknownPair(offer, version) && (isUnknownScheme(offer) || !isNetworkNamed);
  const lead = isLed ? [describeUnknown(offer)] : [];
  return [...lead, ...texts].join('; ') + (meant === null ? note : '');
}

/** An unknown scheme leads. The members of `exact` that it lacks are no faults. */
export function describeUnknown(offer: Offer): string {
  const { pointer, scheme, network } = offer;
  if (!isUnknownScheme(offer)) {
    return `${pointer}: ${showJson(scheme)} on ${showJson(network)} is unknown to this catalog`;
  }
  const lacked = listLackedMembers(offer);
  const rest = lacked.length > 0 ? `; "exact" would also need ${lacked.join(', ')}` : '';
  return `${pointer}/scheme: ${showJson(scheme)} is unknown to this catalog${rest}`;
}

/** Says by which document a passive offer is judged; null if a client here has its scheme. */
export function describePassive({ pointer, scheme, network }: Offer): string | null {
  const row = findSchemeRow(scheme, network);
  if (row === null || row.client !== null) return null;
  const pair = `${showJson(scheme)} on ${showJson(network)}`;
  return `${pointer}: ${pair} is judged by ${row.specification?.file}; no client that we run pays it`;
}

/** Quotes the message of a client; empty without one, and for a message of ours, whose member the evidence has. */
export function quoteClient(words: string | null): string {
  if (words === null || words.startsWith('some clients sign it')) return '';
  return ` (the official client says ${quoteText(words, MAX_MESSAGE_CHARS)})`;
}

/**
 * Measured: clients throw for an entry of `accepts` that is not an object, and for an asset or an amount that is not a
 * text, wherever the offer stands.
 */
export function breaksChallenge({ kind, pointer, value }: OfferFault): boolean {
  const isRead = /\/(?:asset|amount|maxAmountRequired)$/.test(pointer);
  return kind === 'bad-entry' || (isRead && typeof value !== 'string');
}

/** Finds the ill-typed members that the evidence about offers does not name yet, beside the fault or the scheme. */
export function findOtherIllTyped(
  challenge: Challenge,
  evidence: readonly string[],
): readonly IllTypedMember[] {
  // The words are collected once: a search of each text for each pointer grows with the square of the offers.
  const words = new Set(evidence.flatMap(listPointerWords));
  return findIllTypedMembers(challenge).filter(({ pointer }) => {
    const scheme = pointer.replace(/^(\/accepts\/\d+)\/.*$/, '$1/scheme:');
    return ![`${pointer}:`, pointer, scheme].some((word) => words.has(word));
  });
}

/** Words of a text that hold a pointer, from its slash on: "/accepts/0/amount:". The last word leads nothing. */
function listPointerWords(text: string): readonly string[] {
  return text
    .split(' ')
    .slice(0, -1)
    .flatMap((word) => (word.includes('/') ? [word.slice(word.indexOf('/'))] : []));
}
