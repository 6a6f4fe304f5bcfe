/** Members of a challenge whose type breaks the specification. The official clients differ about them. */
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
  showJson,
} from '../json/json.ts';
import type { Challenge, ChallengeMember } from './challenge.ts';
import { fixFaults } from './fault-fixes.ts';
import { describeFaults, describeUnknown } from './offer-evidence.ts';
import { findOfferFaults, isUnknownPair } from './offer-faults.ts';

type IllTyped = {
  /** "/accepts/0/asset: 5, /accepts/0/payTo: null" */
  readonly text: string;
  /** An imperative without its full stop; null if the general fix says it. */
  readonly fix: string | null;
};

/** Describes the ill-typed members that `evidence` does not name yet: one text for each offer, one for the rest. */
export function describeIllTyped(
  challenge: Challenge,
  evidence: readonly string[],
): readonly IllTyped[] {
  const { offers, version } = challenge;
  const byPointer = new Map(offers.map((offer) => [offer.pointer, offer]));
  // The pointer of an offer has two steps: "/accepts/0". Members of the challenge itself have no offer.
  const groups = Map.groupBy(findOtherIllTyped(challenge, evidence), ({ pointer }) =>
    byPointer.get(pointer.split('/', 3).join('/')),
  );
  return [...groups].map(([offer, members]) => {
    const faults = offer === undefined ? [] : findOfferFaults(offer, version);
    const isNamedByFaults = faults.some(({ kind }) => kind === 'bad-entry' || kind === 'v1-names');
    if (offer !== undefined && isNamedByFaults) {
      const text = describeFaults(faults, offer, version);
      return { text, fix: fixFaults(faults, offer, version) };
    }
    const isUnknown = offer !== undefined && isUnknownPair(offer, version);
    const lead = isUnknown ? `${describeUnknown(offer)}; ` : '';
    const texts = members.map(({ pointer, value }) => `${pointer}: ${showJson(value)}`);
    return { text: `${lead}${texts.join(', ')}`, fix: null };
  });
}

/** Leaves out a member that `evidence` names, and the members of an offer whose scheme it names. */
function findOtherIllTyped(
  challenge: Challenge,
  evidence: readonly string[],
): readonly ChallengeMember[] {
  // The words are collected once: a search of each text for each pointer grows with the square of the offers.
  const pointerWords = new Set(evidence.flatMap(listPointerWords));
  return findIllTypedMembers(challenge).filter(({ pointer }) => {
    const scheme = pointer.replace(/^(\/accepts\/\d+)\/.*$/, '$1/scheme:');
    const v1Name = pointer.replace(/\/amount$/, '/maxAmountRequired:');
    return ![`${pointer}:`, pointer, scheme, v1Name].some((word) => pointerWords.has(word));
  });
}

/** Lists the words that hold a pointer, each from its slash on: "/accepts/0/amount:". No value follows the last word. */
function listPointerWords(text: string): readonly string[] {
  return text
    .split(' ')
    .slice(0, -1)
    .flatMap((word) => (word.includes('/') ? [word.slice(word.indexOf('/'))] : []));
}

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
function findIllTypedMembers({ value, version, offers }: Challenge): readonly ChallengeMember[] {
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
): readonly ChallengeMember[] {
  return rules
    .filter(([member, isValid]) => !isValid(value[member]))
    .map(([member]) => ({ pointer: `${pointer}/${member}`, value: value[member] }));
}
