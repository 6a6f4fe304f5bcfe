/** Finds the entries of a manifest and their addresses, also in members that indexes do not read. */
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
import { findPriceSign } from '../text/stated-price.ts';

export type AddressedEntry = {
  /** A URL, a path, or "POST /path". */
  readonly address: string;
  readonly details: JsonObject;
  readonly pointer: string;
  /** Pointer of the address if it stands where indexes do not read it; null for `resource` and `url`. */
  readonly oddPlace: string | null;
  /** True for the base of a service that lists none of its paths; absent otherwise. */
  readonly isBase?: true;
};

type EntryLists = {
  readonly entries: readonly AddressedEntry[];
  /** Pointer of the first entry without an address; null if every entry has one. */
  readonly unaddressed: string | null;
};

/** Members that may hold a list of resources. All of them are read, in this order. */
export const LIST_MEMBERS = ['resources', 'endpoints', 'items'];
/** Members that hold resources in some manifests. They are read only if LIST_MEMBERS have no entry. */
const OTHER_LIST_MEMBER =
  /^(?:apis|services|routes|paths|operations|(?:paid|priced|payable)[-_]?\w+)$/i;
/** Lists whose entries are sold, whatever stands in them: the name says so. */
const SOLD_LIST_MEMBER =
  /^(?:apis|(?:paid|priced|payable)[-_]?(?:endpoint|route|path|resource|api|operation)s)$/i;
const FREE_LIST_MEMBER = /free|unpaid/i;
const ADDRESS_MEMBERS = ['resource', 'url'];
const ODD_ADDRESS_MEMBERS = ['path', 'endpoint', 'route', 'uri', 'resource_url', 'resourceUrl'];
const BASE_MEMBERS = [
  ...['serviceBaseUrl', 'service_base_url', 'baseUrl', 'base_url', 'baseURL'],
  ...['resourceServerUrl', 'resource_server_url', 'sellerEndpoint', 'seller_endpoint'],
];
const MAX_OTHER_LISTS = 5;
const MAX_UNKNOWN_LISTS = 20;

/** "/weather", "https://…", or either after a method. */
const ADDRESS = /^(?:[a-z]{3,7}[ \t]+)?(?:\/|https?:\/\/)/i;
const REQUEST = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[ \t]+(?:\/|https?:\/\/)/i;

/** Returns null if the manifest has no list that we know. */
export function findEntryLists(manifest: JsonObject): EntryLists | null {
  const base = BASE_MEMBERS.map((name) => jsonText(manifest[name])).find((text) => text !== null);
  const listNames = LIST_MEMBERS.filter((name) => isJsonList(manifest[name]));
  const mapNames = LIST_MEMBERS.filter((name) => isJsonObject(manifest[name]));
  const entries = [
    ...listNames.flatMap((name) => readList(manifest[name], `/${name}`)),
    ...mapNames.flatMap((name) => readMap(jsonObject(manifest[name]), `/${name}`)),
  ];
  const usualEntries = entries.filter((entry) => 'address' in entry);
  const foundEntries =
    usualEntries.length > 0 ? addDetails(usualEntries, manifest) : readOtherLists(manifest);
  if (listNames.length === 0 && foundEntries.length === 0) return null;
  return {
    entries: foundEntries.map((entry) => addBase(entry, base ?? null)),
    unaddressed: entries.find((entry) => !('address' in entry))?.pointer ?? null,
  };
}

/** Lists of addresses alone may have their methods and prices in another list of the manifest: { "catalog": […] }. */
function addDetails(entries: readonly AddressedEntry[], manifest: JsonObject) {
  const isBare = entries.every(({ details }) => Object.keys(details).length === 0);
  const toPath = (address: string) => address.replace(/^(?:[a-z]+\s+)?https?:\/\/[^/]*/i, '');
  const detailed = Map.groupBy(isBare ? readOtherLists(manifest) : [], ({ address }) =>
    toPath(address),
  );
  return entries.flatMap((entry) => {
    const found = detailed.get(toPath(entry.address)) ?? [entry];
    return found.map((one) => ({ ...one, address: entry.address, oddPlace: entry.oddPlace }));
  });
}

type Entry = AddressedEntry | { readonly pointer: string };

function readList(list: JsonValue | undefined, pointer: string): readonly Entry[] {
  return jsonList(list).flatMap((entry, index) => readEntry(entry, `${pointer}/${index}`));
}

function readEntry(entry: JsonValue, pointer: string): readonly Entry[] {
  if (typeof entry === 'string') {
    return entry.trim() === '' ? [] : [{ address: entry, details: {}, pointer, oddPlace: null }];
  }
  if (!isJsonObject(entry)) return [];
  for (const name of ADDRESS_MEMBERS) {
    const address = readAddress(entry[name]);
    if (address !== null) return [{ address, details: entry, pointer, oddPlace: null }];
  }
  for (const name of [...ODD_ADDRESS_MEMBERS, 'name']) {
    const address = jsonText(entry[name])?.trim() ?? '';
    const isAddress = name === 'name' ? REQUEST.test(address) : ADDRESS.test(address);
    if (isAddress) return [{ address, details: entry, pointer, oddPlace: `${pointer}/${name}` }];
  }
  return [{ pointer }];
}

/** Reads a text, or the member `url` of an object such as a challenge's `resource`. */
function readAddress(value: JsonValue | undefined): string | null {
  return jsonText(value) ?? jsonText(jsonObject(value)['url']);
}

/** Reads `{ "convert": "POST /convert" }` and `{ "/convert": { "price": … } }`. Other members are descriptions. */
function readMap(map: JsonObject, pointer: string): readonly AddressedEntry[] {
  return Object.entries(map).flatMap(([key, value]): readonly AddressedEntry[] => {
    const memberPointer = `${pointer}/${escapePointerStep(key)}`;
    if (typeof value === 'string' && REQUEST.test(value)) {
      return [{ address: value, details: {}, pointer: memberPointer, oddPlace: memberPointer }];
    }
    if (!ADDRESS.test(key)) {
      return readEntry(value ?? null, memberPointer)
        .filter(isOffered)
        .map(markAsOdd);
    }
    const details: JsonObject = isJsonObject(value) ? value : { price: value };
    const entry = { address: key, details, pointer: memberPointer, oddPlace: memberPointer };
    return isOffered(entry) ? [entry] : [];
  });
}

/**
 * Reads the entries of the lists that OTHER_LIST_MEMBER names. If these have none, reads the lists of any name ("tools",
 * "catalog"), whose entries count only if they state a price or `accepts`.
 */
function readOtherLists(manifest: JsonObject): readonly AddressedEntry[] {
  const lists = Object.keys(manifest).filter(
    (name) =>
      typeof manifest[name] === 'object' &&
      !LIST_MEMBERS.includes(name) &&
      !FREE_LIST_MEMBER.test(name),
  );
  const likelyLists = lists
    .filter((name) => OTHER_LIST_MEMBER.test(name))
    .slice(0, MAX_OTHER_LISTS);
  const likelyEntries = likelyLists.flatMap((name) => readOtherList(manifest, name));
  if (likelyEntries.length > 0) return likelyEntries;
  return lists
    .slice(0, MAX_UNKNOWN_LISTS)
    .flatMap((name) => readOtherList(manifest, name).filter(isPriced));
}

/** In a list whose name does not say that it is sold, only an entry that says how it is sold is a resource. */
function readOtherList(manifest: JsonObject, name: string): readonly AddressedEntry[] {
  const pointer = `/${escapePointerStep(name)}`;
  const value = manifest[name];
  if (isJsonObject(value)) return readMap(value, pointer);
  const entries = jsonList(value).flatMap((item, index): readonly AddressedEntry[] => {
    const itemPointer = `${pointer}/${index}`;
    const found = readEntry(item, itemPointer).filter((entry) => 'address' in entry);
    return found.length > 0 ? found : readBase(item, itemPointer);
  });
  const resources = SOLD_LIST_MEMBER.test(name) ? entries : entries.filter(isOffered);
  return resources.map(markAsOdd);
}

/** Reads `{ "name": "Scores", "baseUrl": "https://…" }`, which says where a service is and not what it sells. */
function readBase(item: JsonValue, pointer: string): readonly AddressedEntry[] {
  const details = jsonObject(item);
  return BASE_MEMBERS.flatMap((name): readonly AddressedEntry[] => {
    const address = jsonText(details[name]) ?? '';
    if (!/^https?:\/\//i.test(address)) return [];
    return [{ address, details, pointer, oddPlace: `${pointer}/${name}`, isBase: true }];
  }).slice(0, 1);
}

/** Lists the addresses in a map of names that says of none of them that it is sold: `{ "weather": "/api/weather" }`. */
export function listNamedAddresses(manifest: JsonObject): readonly string[] {
  return LIST_MEMBERS.flatMap((member) =>
    Object.values(jsonObject(manifest[member])).flatMap((value) => {
      if (typeof value === 'string') return ADDRESS.test(value) ? value : [];
      return readEntry(value ?? null, '').flatMap((entry) =>
        'address' in entry ? entry.address : [],
      );
    }),
  );
}

function isPriced({ details }: Pick<AddressedEntry, 'details'>): boolean {
  return isJsonList(details['accepts']) || findPriceSign(details) !== null;
}

function isOffered(entry: Entry): entry is AddressedEntry {
  if (!('address' in entry)) return false;
  const { address, details } = entry;
  const hasMethod = typeof details['method'] === 'string' || REQUEST.test(address);
  return hasMethod || isPriced({ details });
}

function markAsOdd(entry: AddressedEntry): AddressedEntry {
  return { ...entry, oddPlace: entry.oddPlace ?? entry.pointer };
}

/**
 * Puts the manifest's base address before a path, unless the path begins with it. An address in `resource` or `url`
 * stays as indexes read it.
 */
function addBase(entry: AddressedEntry, base: string | null): AddressedEntry {
  const url = base === null || entry.oddPlace === null ? null : URL.parse(base);
  const [, method = '', path = ''] = /^([a-z]{3,7}[ \t]+)?(\/.*)$/is.exec(entry.address) ?? [];
  if (url === null || !/^https?:$/.test(url.protocol) || path === '') return entry;
  const prefix = url.pathname.replace(/\/$/, '');
  const isPrefixed = prefix === '' || path === prefix || path.startsWith(`${prefix}/`);
  return { ...entry, address: `${method}${url.origin}${isPrefixed ? '' : prefix}${path}` };
}
