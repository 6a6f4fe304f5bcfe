/**
 * Finds members whose type breaks the specification. The official Python client refuses a whole challenge for one
 * ill-typed member. The TypeScript client overlooks some of these members, because it reads only what it signs.
 */
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonObject,
} from '../json/json.ts';
import type { Challenge } from './challenge.ts';

export type IllTypedMember = { readonly pointer: string; readonly value: JsonValue | undefined };

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

/** Returns the members in the order of the specification. */
export function findIllTypedMembers({
  value,
  version,
  offers,
}: Challenge): readonly IllTypedMember[] {
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
