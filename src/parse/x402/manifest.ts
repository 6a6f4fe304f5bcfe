/** Reads /.well-known/x402 in each shape in use (checks/S6-well-known-x402/README.md). */

import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../json/json.ts';
import { escapePointerStep } from '../json/json-pointer.ts';
import { dollars } from '../text/decimal.ts';
import { findAmountKind } from './amount.ts';
import { toCaip2 } from './networks.ts';

export type ManifestEntry = {
  /** An absolute URL or a path, as written. */
  readonly target: string;
  readonly pointer: string;
  readonly method: string | null;
  /** Decimal dollars without "$" and trailing zeroes ("0.01"); null when missing or not comparable. */
  readonly price: string | null;
  /** Base units as in an `accepts` entry; null when missing. */
  readonly amount: string | null;
  readonly asset: string | null;
  readonly network: string | null;
  readonly payTo: string | null;
  /** Further members of `accepts`, one per network; absent when there are none. */
  readonly elsewhere?: readonly ManifestEntry[];
};

export type ManifestFacts =
  | {
      readonly shape: 'list' | 'discovery-document';
      readonly entries: readonly ManifestEntry[];
      readonly payTo: string | null;
    }
  | { readonly shape: 'unknown' };

/** Members that may hold the list; all of them are read, in this order. */
const LISTS = ['resources', 'endpoints', 'items'];
/** Bounds the work: a manifest may list thousands of entries. */
const MAX_ACCEPTS = 20;
const PRICES = ['price', 'price_usd', 'priceUsd'];
const METHOD_AND_TARGET = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[ \t]+(\S+)$/i;
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;

export function parseManifest(value: JsonValue): ManifestFacts {
  if (!isJsonObject(value)) return { shape: 'unknown' };
  const lists = LISTS.filter((name) => isJsonList(value[name]));
  if (lists.length > 0) {
    const entries = lists.flatMap((name) => listEntries(value[name], `/${name}`));
    return { shape: 'list', entries, payTo: jsonText(value['payTo']) };
  }
  const document = jsonObject(value['discoveryDocument']);
  if (!isJsonObject(document['resources'])) return { shape: 'unknown' };
  return {
    shape: 'discovery-document',
    entries: pathEntries(document['resources']),
    payTo: jsonText(document['payTo']) ?? jsonText(value['payTo']),
  };
}

function listEntries(list: JsonValue | undefined, pointer: string): readonly ManifestEntry[] {
  return jsonList(list).flatMap((entry, index) => {
    const at = `${pointer}/${index}`;
    if (typeof entry === 'string') return toEntries(entry, {}, at);
    if (!isJsonObject(entry)) return [];
    const written = readAddress(entry['resource']) ?? readAddress(entry['url']);
    return written === null ? [] : toEntries(written, entry, at);
  });
}

function pathEntries(resources: JsonObject): readonly ManifestEntry[] {
  return Object.entries(resources).flatMap(([path, details]) =>
    toEntries(path, jsonObject(details), `/discoveryDocument/resources/${escapePointerStep(path)}`),
  );
}

/** Entries are an address, or an object with one (`resource.url` of a challenge). */
function readAddress(value: JsonValue | undefined): string | null {
  return jsonText(value) ?? jsonText(jsonObject(value)['url']);
}

function toEntries(
  written: string,
  details: JsonObject,
  pointer: string,
): readonly ManifestEntry[] {
  const split = METHOD_AND_TARGET.exec(written.trim());
  const target = split?.[2] ?? written.trim();
  if (target === '') return [];
  const accepted = findPricedAccept(jsonList(details['accepts']));
  const first: ManifestEntry = {
    target,
    pointer,
    method: readMethod(split?.[1] ?? null, details, accepted),
    price: readPrice(details),
    amount: readUnits(accepted, details),
    asset: jsonText(details['asset']) ?? jsonText(accepted['asset']),
    network: readNetwork(details) ?? jsonText(accepted['network']),
    payTo: jsonText(details['payTo']) ?? jsonText(accepted['payTo']),
  };
  // Members of the entry apply to all networks, those of `accepts` to one each.
  const isGeneral = readNetwork(details) !== null || jsonText(details['asset']) !== null;
  const elsewhere = isGeneral ? [] : findOtherNetworks(first, jsonList(details['accepts']));
  return [elsewhere.length === 0 ? first : { ...first, elsewhere }];
}

/** Takes the first price on each other network; a second one there is another tier. */
function findOtherNetworks(
  first: ManifestEntry,
  accepts: readonly JsonValue[],
): readonly ManifestEntry[] {
  const networks = new Set([first.network === null ? null : toCaip2(first.network)]);
  const entries: ManifestEntry[] = [];
  for (const [index, entry] of accepts.slice(0, MAX_ACCEPTS).entries()) {
    const accepted = jsonObject(entry);
    const network = jsonText(accepted['network']);
    if (network === null || networks.has(toCaip2(network)) || !isPriced(accepted)) continue;
    networks.add(toCaip2(network));
    entries.push({
      target: first.target,
      pointer: `${first.pointer}/accepts/${index}`,
      method: first.method,
      price: null,
      amount: readUnits(accepted, {}),
      asset: jsonText(accepted['asset']),
      network,
      payTo: jsonText(accepted['payTo']),
    });
  }
  return entries;
}

/** Takes the first member with a price, which a ceiling is not. */
function findPricedAccept(accepts: readonly JsonValue[]): JsonObject {
  return accepts.map(jsonObject).find(isPriced) ?? {};
}

function isPriced({ scheme }: JsonObject): boolean {
  return scheme === undefined || findAmountKind(scheme) === 'price';
}

/** v1 and the Bazaar describe the input, with its method, beside the price. */
function readMethod(
  beforeTarget: string | null,
  details: JsonObject,
  accepted: JsonObject,
): string | null {
  const candidates = [
    beforeTarget,
    details['method'],
    jsonObject(jsonObject(details['metadata'])['input'])['method'],
    jsonObject(jsonObject(accepted['outputSchema'])['input'])['method'],
  ];
  const method = candidates.find((one) => typeof one === 'string' && METHOD.test(one));
  return typeof method === 'string' ? method.toUpperCase() : null;
}

function readPrice(details: JsonObject): string | null {
  for (const name of PRICES) {
    const price = details[name];
    const amount = isJsonObject(price) ? dollarMember(price) : dollars(price);
    if (amount !== null) return amount;
  }
  return null;
}

function dollarMember(price: JsonObject): string | null {
  const currency = price['currency'] ?? 'USD';
  if (typeof currency !== 'string' || !/^USDC?$/i.test(currency)) return null;
  return dollars(price['amount']);
}

function readUnits(accepted: JsonObject, details: JsonObject): string | null {
  const candidates = [
    accepted['amount'],
    accepted['maxAmountRequired'],
    details['maxAmountRequired'],
  ];
  const units = candidates.find((one) => typeof one === 'string' && /^[0-9]{1,78}$/.test(one));
  return typeof units === 'string' ? units : null;
}

function readNetwork(details: JsonObject): string | null {
  const networks = jsonList(details['networks']);
  return jsonText(details['network']) ?? (networks.length === 1 ? jsonText(networks[0]) : null);
}
