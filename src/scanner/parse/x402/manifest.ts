/** Reads /.well-known/x402 in all shapes that sellers use (checks/S6-well-known-x402/README.md). */

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
import {
  findPriceSign,
  listFlatPrices,
  readStatedPrice,
  type StatedPrice,
  type StatedUnits,
} from '../text/stated-price.ts';
import { findAmountKind } from './amount.ts';
import {
  type AddressedEntry,
  findEntryLists,
  LIST_MEMBERS,
  listNamedAddresses,
} from './manifest-address.ts';
import { toCaip2 } from './networks.ts';

export type ManifestEntry = {
  /** An absolute URL or a path, as the manifest has it. */
  readonly target: string;
  readonly pointer: string;
  readonly method: string | null;
  /** Decimal dollars without "$" and trailing zeroes ("0.01"); null if missing or in another currency. */
  readonly price: string | null;
  /** The price in base units, if the entry states it so or may state it so. */
  readonly units?: StatedUnits;
  /** Base units, from an entry of `accepts`; null if missing. */
  readonly amount: string | null;
  readonly asset: string | null;
  readonly network: string | null;
  readonly payTo: string | null;
  /**
   * `both`: an empty `accepts` beside a price. `base`: the address of a service that lists none of its paths. Absent if the
   * entry says nothing about a price.
   */
  readonly sale?: 'priced' | 'free' | 'both' | 'base';
  /** Texts beside a template in which its values may stand: "GET /weather/oslo", "oslo"; absent for other addresses. */
  readonly examples?: readonly string[];
  /** Pointer of the address if it is in a member that indexes do not read. */
  readonly oddPlace?: string;
  /** The terms on other networks, one entry for each network; absent if `accepts` has no other network. */
  readonly onOtherNetworks?: readonly ManifestEntry[];
};

export type ManifestFacts =
  | {
      readonly shape: 'list' | 'discovery-document';
      readonly entries: readonly ManifestEntry[];
      readonly payTo: string | null;
      /** Pointer of the first entry without an address; absent if every entry has one. */
      readonly unaddressed?: string;
    }
  | {
      readonly shape: 'unknown';
      /** Pointer of the member that should be a list of resources, but is not a list; absent without such a member. */
      readonly misshapen?: string;
      /** Addresses in a map of names that says of none of them that it is sold. */
      readonly named: readonly string[];
    };

/** Limit for each resource, because a manifest may list thousands of resources. */
const MAX_ACCEPTS = 20;
const NO_PRICE: StatedPrice = { dollars: null, units: null };
/** Members of an entry that may hold an object with the price, or a list of one. */
const PRICE_HOLDERS = [
  'payment',
  'pricing',
  'x402',
  'x-payment-info',
  'paymentInfo',
  'payment_info',
];
const METHOD_AND_TARGET = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[ \t]+(\S+)$/i;
/** "/weather/:city", "/weather/{city}", "/weather/[city]" */
const TEMPLATE = /\/:\w|[{[]/;
const HTTP_METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;

export function parseManifest(value: JsonValue): ManifestFacts {
  if (!isJsonObject(value)) return { shape: 'unknown', named: [] };
  const lists = findEntryLists(value);
  if (lists !== null) {
    const { entries, unaddressed } = lists;
    return {
      shape: 'list',
      entries: entries.flatMap((entry) => toEntry(entry) ?? []),
      payTo: readPayTo(value),
      ...(unaddressed === null ? {} : { unaddressed }),
    };
  }
  const document = jsonObject(value['discoveryDocument']);
  if (!isJsonObject(document['resources'])) {
    const member = LIST_MEMBERS.find((name) => (value[name] ?? null) !== null);
    const misshapen = member === undefined ? {} : { misshapen: `/${member}` };
    return { shape: 'unknown', named: listNamedAddresses(value), ...misshapen };
  }
  return {
    shape: 'discovery-document',
    entries: Object.entries(document['resources']).flatMap(([path, value]) => {
      const pointer = `/discoveryDocument/resources/${escapePointerStep(path)}`;
      return toEntry({ address: path, details: jsonObject(value), pointer, oddPlace: null }) ?? [];
    }),
    payTo: readPayTo(document) ?? readPayTo(value),
  };
}

/** Returns null for an empty address. */
function toEntry(addressed: AddressedEntry): ManifestEntry | null {
  const { address, details, pointer, oddPlace, isBase } = addressed;
  const trimmed = address.trim();
  const [, statedMethod = null, target = trimmed] = METHOD_AND_TARGET.exec(trimmed) ?? [];
  if (target === '') return null;
  const option = jsonList(details['accepts']).map(jsonObject).find(isPriced) ?? {};
  const { dollars: price, units } = readPrice(details);
  const first: ManifestEntry = {
    target,
    pointer,
    method: readMethod(statedMethod, details, option),
    price,
    ...(units === null ? {} : { units }),
    amount: readBaseUnits(option, details),
    asset: jsonText(details['asset']) ?? jsonText(option['asset']),
    network: readNetwork(details) ?? jsonText(option['network']),
    payTo: readPayTo(details) ?? readPayTo(option),
    ...(isBase === true ? { sale: 'base' } : findSale(details)),
    ...(TEMPLATE.test(target) ? { examples: listExamples(details) } : {}),
    ...(oddPlace === null ? {} : { oddPlace }),
  };
  // Members of the entry apply to all networks. An item of `accepts` applies to one network.
  const namesOneToken = readNetwork(details) !== null || jsonText(details['asset']) !== null;
  const onOtherNetworks = namesOneToken
    ? []
    : readOtherNetworks(first, jsonList(details['accepts']));
  return onOtherNetworks.length === 0 ? first : { ...first, onOtherNetworks };
}

function listExamples(details: JsonObject): readonly string[] {
  const { example, example_url: exampleUrl, parameters, params, inputSchema } = details;
  const { pathParams } = jsonObject(inputSchema);
  const values = Object.values(parameters ?? params ?? pathParams ?? {}).map(readExample);
  const texts = [example, jsonObject(example)['request'], exampleUrl, ...values];
  return texts.filter((text) => typeof text === 'string');
}

function readExample(parameter: JsonValue): JsonValue | undefined {
  const { example, examples, default: defaultValue, enum: allowed } = jsonObject(parameter);
  return example ?? jsonList(examples)[0] ?? defaultValue ?? jsonList(allowed)[0];
}

/** An empty `accepts` says that nothing is asked. So does an entry whose every price is 0, or whose price is null. */
function findSale(details: JsonObject): Pick<ManifestEntry, 'sale'> {
  const { accepts } = details;
  const sign = findPriceSign(details);
  if (isJsonList(accepts) && accepts.length === 0) {
    return { sale: sign === 'positive' ? 'both' : 'free' };
  }
  if (sign === 'zero' || (sign === null && details['price'] === null)) return { sale: 'free' };
  return sign === 'positive' || isJsonList(accepts) ? { sale: 'priced' } : {};
}

/** Reads only the first price on each network. A second price on a network is the price of another tier. */
function readOtherNetworks(
  first: ManifestEntry,
  accepts: readonly JsonValue[],
): readonly ManifestEntry[] {
  const networks = new Set([first.network === null ? null : toCaip2(first.network)]);
  const entries: ManifestEntry[] = [];
  for (const [index, entry] of accepts.slice(0, MAX_ACCEPTS).entries()) {
    const option = jsonObject(entry);
    const network = jsonText(option['network']);
    if (network === null || networks.has(toCaip2(network)) || !isPriced(option)) continue;
    networks.add(toCaip2(network));
    entries.push({
      target: first.target,
      pointer: `${first.pointer}/accepts/${index}`,
      method: first.method,
      price: null,
      amount: readBaseUnits(option, {}),
      asset: jsonText(option['asset']),
      network,
      payTo: jsonText(option['payTo']),
    });
  }
  return entries;
}

/** Returns true if the amount of an item of `accepts` is a price and not a ceiling. */
function isPriced({ scheme }: JsonObject): boolean {
  return scheme === undefined || findAmountKind(scheme) === 'price';
}

/** Reads the method in upper case. In v1 and in the Bazaar, the description of the input has the method. */
function readMethod(
  statedMethod: string | null,
  details: JsonObject,
  option: JsonObject,
): string | null {
  const candidates = [
    statedMethod,
    details['method'],
    readSingle(details['methods']),
    jsonObject(jsonObject(details['metadata'])['input'])['method'],
    jsonObject(jsonObject(option['outputSchema'])['input'])['method'],
  ];
  const method = candidates.find((value) => typeof value === 'string' && HTTP_METHOD.test(value));
  return typeof method === 'string' ? method.toUpperCase() : null;
}

function readPrice(details: JsonObject): StatedPrice {
  const holders = PRICE_HOLDERS.map((name) => {
    return jsonObject(isJsonList(details[name]) ? readSingle(details[name]) : details[name]);
  });
  for (const holder of [details, ...holders]) {
    const price = readOwnPrice(holder);
    if (price !== null) return price;
  }
  return NO_PRICE;
}

/** Reads the price in a member for it, or else `amount` and `currency` of the object itself. */
function readOwnPrice(details: JsonObject): StatedPrice | null {
  for (const { value, price } of listFlatPrices(details)) {
    const stated = readStatedPrice(isJsonObject(value) ? value : price);
    if (stated !== null) return stated;
  }
  return readStatedPrice(details);
}

/** Returns the item of a list of one; undefined for any other value. */
function readSingle(value: JsonValue | undefined): JsonValue | undefined {
  const [first, ...others] = jsonList(value);
  return others.length === 0 ? first : undefined;
}

function readPayTo(details: JsonObject): string | null {
  return jsonText(details['payTo']) ?? jsonText(details['pay_to']);
}

function readBaseUnits(option: JsonObject, details: JsonObject): string | null {
  const { amount, maxAmountRequired } = option;
  const candidates = [amount, maxAmountRequired, details['maxAmountRequired']];
  const texts = candidates.filter((value) => typeof value === 'string');
  return texts.find((text) => /^[0-9]{1,78}$/.test(text)) ?? null;
}

function readNetwork(details: JsonObject): string | null {
  const networks = jsonList(details['networks']);
  return jsonText(details['network']) ?? (networks.length === 1 ? jsonText(networks[0]) : null);
}
