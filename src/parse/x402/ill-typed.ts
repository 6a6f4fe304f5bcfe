/**
 * Finds members whose type breaks the specification. The official Python client builds typed objects and
 * refuses a whole challenge for one such member; the TypeScript client reads only the members that it
 * signs.
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
type Rule = readonly [member: string, isRight: (value: Value) => boolean];

const isText = (value: Value) => typeof value === 'string';
const isList = (value: Value) => isJsonList(value) && value.every(isText);
const isObject = (value: Value) => value !== undefined && isJsonObject(value);
/** Accepts a number, or a text that parses as one. */
const isInteger = (value: Value) =>
  Number.isInteger(value) || (typeof value === 'string' && /^[+-]?\d{1,30}$/.test(value.trim()));
const isAbsentOr = (isRight: Rule[1]) => (value: Value) => value === undefined || isRight(value);
const isNoneOr = (isRight: Rule[1]) => (value: Value) => value == null || isRight(value);

const TOP: readonly Rule[] = [
  ['error', isNoneOr(isText)],
  ['resource', isNoneOr(isObject)],
  ['extensions', isNoneOr(isObject)],
];
const RESOURCE: readonly Rule[] = [
  ['url', isText],
  ['description', isNoneOr(isText)],
  ['mimeType', isNoneOr(isText)],
  ['serviceName', isNoneOr(isText)],
  ['tags', isNoneOr(isList)],
  ['iconUrl', isNoneOr(isText)],
];
const TERMS: readonly Rule[] = [
  ['scheme', isText],
  ['network', isText],
  ['asset', isText],
  ['payTo', isText],
  ['maxTimeoutSeconds', isInteger],
];
const OFFER: readonly Rule[] = [...TERMS, ['amount', isText], ['extra', isAbsentOr(isObject)]];
const OFFER_V1: readonly Rule[] = [
  ...TERMS,
  ['maxAmountRequired', isText],
  ['resource', isText],
  ['description', isNoneOr(isText)],
  ['mimeType', isNoneOr(isText)],
  ['outputSchema', isNoneOr(isObject)],
  ['extra', isNoneOr(isObject)],
];

/** In the specification's order; empty when every client can build its objects. */
export function findIllTypedMembers({
  value,
  version,
  offers,
}: Challenge): readonly IllTypedMember[] {
  const { resource } = value;
  return [
    ...broken(value, version === 1 ? TOP.slice(0, 1) : TOP, ''),
    ...(version === 2 && isObject(resource)
      ? broken(jsonObject(resource), RESOURCE, '/resource')
      : []),
    ...offers.flatMap(({ entry, pointer }) => {
      if (!isJsonObject(entry)) return [{ pointer, value: entry }];
      return broken(entry, version === 1 ? OFFER_V1 : OFFER, pointer);
    }),
  ];
}

function broken(
  owner: JsonObject,
  rules: readonly Rule[],
  pointer: string,
): readonly IllTypedMember[] {
  return rules
    .filter(([member, isRight]) => !isRight(owner[member]))
    .map(([member]) => ({ pointer: `${pointer}/${member}`, value: owner[member] }));
}
