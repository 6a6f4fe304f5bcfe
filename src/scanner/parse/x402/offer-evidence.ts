/** Describes offers for evidence: the faults of an unsound offer, ill-typed members, the words of a client. */
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  showJson,
} from '../json/json.ts';
import { quoteText } from '../text/text.ts';
import type { Challenge, Offer } from './challenge.ts';
import { describeFault, type OfferFault } from './fault-fixes.ts';
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

/** Names what is unknown, the scheme first. An unknown scheme need not have the members of `exact`. */
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
  const pointerWords = new Set(evidence.flatMap(listPointerWords));
  return findIllTypedMembers(challenge).filter(({ pointer }) => {
    const scheme = pointer.replace(/^(\/accepts\/\d+)\/.*$/, '$1/scheme:');
    return ![`${pointer}:`, pointer, scheme].some((word) => pointerWords.has(word));
  });
}

/** Words of a text that hold a pointer, from its slash on: "/accepts/0/amount:". The last word leads nothing. */
function listPointerWords(text: string): readonly string[] {
  return text
    .split(' ')
    .slice(0, -1)
    .flatMap((word) => (word.includes('/') ? [word.slice(word.indexOf('/'))] : []));
}

/** A message may contain a shorter value by chance. */
const MIN_QUOTED_CHARS = 20;
/** Words of the official clients about members that they do not name. */
const HINTS: readonly (readonly [words: RegExp, isAbout: (fault: OfferFault) => boolean])[] = [
  [/EIP-712/, ({ kind }) => kind === 'no-domain' || kind === 'wrong-domain'],
  // Clients add the timeout to the time of day, which gives no number.
  [/\bNaN\b/, ({ pointer }) => pointer.endsWith('/maxTimeoutSeconds')],
  [/\bBigInt\b/, ({ pointer }) => /\/(?:amount|maxAmountRequired)$/.test(pointer)],
  [/\btoLowerCase\b/, ({ pointer }) => pointer.endsWith('/asset')],
  [/No network\/scheme/, ({ pointer }) => /\/(?:network|scheme)$/.test(pointer)],
];

/** Returns null if the message names none of several faults. */
function findMeantFault(faults: readonly OfferFault[], message: string): OfferFault | null {
  const [first] = faults;
  if (first === undefined) return null;
  if (faults.length === 1) return first;
  const hintedFaults = HINTS.flatMap(([words, isAbout]) =>
    words.test(message) ? faults.filter(isAbout) : [],
  );
  const quotedFaults = faults.filter(
    ({ value }) =>
      typeof value === 'string' &&
      ((value.length > 2 && message.includes(value)) || message.includes(JSON.stringify(value))),
  );
  const namedFaults = faults.filter(({ pointer, value }) => {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    return value === undefined && new RegExp(`\\b${name}\\b`).test(message);
  });
  return hintedFaults[0] ?? quotedFaults[0] ?? namedFaults[0] ?? null;
}

/** Finds the member of a sound offer that the message names by value or name: "extra/feePayer"; null if it names none. */
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
    return isQuoted || (name.startsWith('extra/') && message.includes(name.slice('extra/'.length)));
  });
  return namedMember ?? null;
}

type IllTypedMember = { readonly pointer: string; readonly value: JsonValue | undefined };

type Value = JsonValue | undefined;
type Rule = readonly [member: string, isValid: (value: Value) => boolean];

const isText = (value: Value) => typeof value === 'string';
const isTextList = (value: Value) => isJsonList(value) && value.every(isText);
const isObject = (value: Value) => value !== undefined && isJsonObject(value);
/** Accepts an integer, or a text that parses as an integer. */
const isInteger = (value: Value) =>
  Number.isInteger(value) || (typeof value === 'string' && /^[+-]?\d{1,30}$/.test(value.trim()));
const isAbsentOr = (isValid: Rule[1]) => (value: Value) => value === undefined || isValid(value);
const isNullishOr = (isValid: Rule[1]) => (value: Value) => value == null || isValid(value);

const ERROR_RULE: Rule = ['error', isNullishOr(isText)];
const CHALLENGE_RULES: readonly Rule[] = [
  ERROR_RULE,
  ['resource', isNullishOr(isObject)],
  ['extensions', isNullishOr(isObject)],
];
const RESOURCE_RULES: readonly Rule[] = [
  ['url', isText],
  ['description', isNullishOr(isText)],
  ['mimeType', isNullishOr(isText)],
  ['serviceName', isNullishOr(isText)],
  ['tags', isNullishOr(isTextList)],
  ['iconUrl', isNullishOr(isText)],
];
const COMMON_OFFER_RULES: readonly Rule[] = [
  ['scheme', isText],
  ['network', isText],
  ['asset', isText],
  ['payTo', isText],
  ['maxTimeoutSeconds', isInteger],
];
const OFFER_RULES: readonly Rule[] = [
  ...COMMON_OFFER_RULES,
  ['amount', isText],
  ['extra', isAbsentOr(isObject)],
];
const OFFER_V1_RULES: readonly Rule[] = [
  ...COMMON_OFFER_RULES,
  ['maxAmountRequired', isText],
  ['resource', isText],
  ['description', isNullishOr(isText)],
  ['mimeType', isNullishOr(isText)],
  ['outputSchema', isNullishOr(isObject)],
  ['extra', isNullishOr(isObject)],
];

/**
 * Lists the members whose type breaks the specification, in its order. The official Python client refuses a whole
 * challenge for one of them. The TypeScript client overlooks some, because it reads only what it signs.
 */
function findIllTypedMembers({ value, version, offers }: Challenge): readonly IllTypedMember[] {
  const { resource } = value;
  return [
    ...findIllTyped(value, version === 1 ? [ERROR_RULE] : CHALLENGE_RULES, ''),
    ...(version === 2 && isObject(resource)
      ? findIllTyped(jsonObject(resource), RESOURCE_RULES, '/resource')
      : []),
    ...offers.flatMap(({ entry, pointer }) => {
      if (!isJsonObject(entry)) return [{ pointer, value: entry }];
      return findIllTyped(entry, version === 1 ? OFFER_V1_RULES : OFFER_RULES, pointer);
    }),
  ];
}

function findIllTyped(
  value: JsonObject,
  rules: readonly Rule[],
  pointer: string,
): readonly IllTypedMember[] {
  return rules
    .filter(([member, isValid]) => !isValid(value[member]))
    .map(([member]) => ({ pointer: `${pointer}/${member}`, value: value[member] }));
}
