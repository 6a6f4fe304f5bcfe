import { isIP } from 'node:net';
import { isBlockedAddress } from '../../guard/address.ts';
import { isSameHostname } from '../../guard/origin.ts';
import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../json/json.ts';
import type { RefResolver } from '../json/json-pointer.ts';

const MAX_VALUE_CHARS = 200;
const MAX_ADDRESS_CHARS = 2_048;
const COMPOSITIONS = ['allOf', 'anyOf', 'oneOf'];
const MAX_CANDIDATES = 5;
const MAX_PARAMETERS = 20;
const MADE_UP_TEXT = 'example';
const MADE_UP_UUID = '00000000-0000-4000-8000-000000000000';

type RequestPath = {
  /** Path and query for an origin, with exactly one slash at the start: "//host" would address another host. */
  readonly path: string;
  /** True if the document declares no value for a parameter. The origin may answer 404 to the made-up value. */
  readonly isMadeUp: boolean;
};

/** Fills in the path and the required query. Values come from the document, or else are made up by their schema. */
export function toRequestPath(
  basePath: string,
  template: string,
  parameters: readonly JsonObject[],
  resolveRef: RefResolver,
): RequestPath {
  const pathParameters = parameters.filter((parameter) => parameter['in'] === 'path');
  const byName = new Map(pathParameters.map((parameter) => [parameter['name'], parameter]));
  let isMadeUp = false;
  const toValue = (parameter: JsonObject): string => {
    const value = findDeclaredValue(parameter, resolveRef);
    isMadeUp ||= value === null;
    return encodeURIComponent(value ?? makeUpValue(jsonObject(resolveRef(parameter['schema']))));
  };
  const filled = fillTemplate(template, (name) => toValue(byName.get(name) ?? {}));
  // The host is a placeholder: only path and query of the address are used.
  let address = `https://origin.invalid${basePath}${filled}`;
  for (const parameter of listRequiredQuery(parameters)) {
    if (address.length > MAX_ADDRESS_CHARS) break;
    const name = encodeURIComponent(toSegment(parameter['name']) ?? '');
    address += `${address.includes('?') ? '&' : '?'}${name}=${toValue(parameter)}`;
  }
  const url = URL.parse(address);
  const path = `/${(url?.pathname ?? '').replace(/^\/+/, '')}${url?.search ?? ''}`;
  return { path, isMadeUp };
}

function listRequiredQuery(parameters: readonly JsonObject[]): readonly JsonObject[] {
  return parameters
    .filter(({ in: location, required }) => location === 'query' && required === true)
    .filter(({ name }) => toSegment(name) !== null)
    .slice(0, MAX_PARAMETERS);
}

/**
 * Replaces the first MAX_PARAMETERS names in braces. Keeps an unclosed brace. Stops when the result is longer than
 * MAX_ADDRESS_CHARS.
 */
function fillTemplate(template: string, toValue: (name: string) => string): string {
  let filled = '';
  let position = 0;
  for (let count = 0; count < MAX_PARAMETERS; count += 1) {
    if (filled.length > MAX_ADDRESS_CHARS) return filled;
    const start = template.indexOf('{', position);
    const end = start === -1 ? -1 : template.indexOf('}', start);
    if (end === -1) break;
    filled += template.slice(position, start) + toValue(template.slice(start + 1, end));
    position = end + 1;
  }
  return filled + template.slice(position);
}

/** Returns the first example, default, enum value or constant that the document declares; null if it declares none. */
function findDeclaredValue(parameter: JsonObject, resolveRef: RefResolver): string | null {
  const schema = jsonObject(resolveRef(parameter['schema']));
  // Pydantic wraps the enum of a parameter that has a title, a default or an alternative of null.
  const [part] = COMPOSITIONS.flatMap((name) => jsonList(schema[name]).slice(0, 1));
  const composed = jsonObject(resolveRef(part));
  const candidates = [
    parameter['example'],
    ...listExamples(parameter['examples'], resolveRef),
    schema['example'],
    ...jsonList(schema['examples']).slice(0, MAX_CANDIDATES),
    schema['default'],
    ...jsonList(schema['enum']).slice(0, MAX_CANDIDATES),
    schema['const'],
    composed['default'],
    ...jsonList(composed['enum']).slice(0, MAX_CANDIDATES),
    composed['const'],
  ];
  for (const candidate of candidates) {
    const text = toSegment(isJsonList(candidate) ? candidate[0] : candidate);
    if (text !== null) return text;
  }
  return null;
}

/** Returns only the first MAX_CANDIDATES, because thousands of operations may share a parameter. */
function listExamples(
  examples: JsonValue | undefined,
  resolveRef: RefResolver,
): readonly (JsonValue | undefined)[] {
  const values: (JsonValue | undefined)[] = [];
  for (const name in jsonObject(examples)) {
    if (values.length >= MAX_CANDIDATES) break;
    values.push(jsonObject(resolveRef(jsonObject(examples)[name]))['value']);
  }
  return values;
}

/** Returns the text of a value; null for "." and "..", which would leave the base path, and for a value without a text. */
function toSegment(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null || typeof value === 'object') return null;
  const text = String(value).slice(0, MAX_VALUE_CHARS).toWellFormed();
  return text === '' || text === '.' || text === '..' ? null : text;
}

function makeUpValue(schema: JsonObject): string {
  const type = jsonList(schema['type'])[0] ?? schema['type'];
  if (type === 'integer' || type === 'number') return toSegment(schema['minimum']) ?? '1';
  if (type === 'boolean') return 'true';
  return schema['format'] === 'uuid' ? MADE_UP_UUID : MADE_UP_TEXT;
}

const ROUTER_PARAMETER =
  /\/(?::(\w+)|(?:\[|%5B)(\w+)(?:\]|%5D)|(?:<|%3C)(?:\w+(?::|%3A))?(\w+)(?:>|%3E))(?=[/?]|$)/gi;

/** Writes ":id", "[id]" and "<int:id>", the notations of routers, as "{id}". */
export function toBraces(template: string): string {
  const [path = '', ...query] = template.split('?');
  const braced = path.replace(
    ROUTER_PARAMETER,
    (_, colon?: string, square?: string, angle?: string) => `/{${colon ?? square ?? angle ?? ''}}`,
  );
  return [braced, ...query].join('?');
}

/** Two documents may name the parameters of one path differently. Their templates have the same key. */
export function toTemplateKey(template: string): string {
  return toBraces(template).replace(/\{[^{}/]*\}/g, '{}');
}

export function removeQuery(path: string): string {
  return path.split('?', 1)[0] ?? path;
}

export function hasPathParameters(template: string): boolean {
  return template.includes('{');
}

/** The server that gets the requests of an operation. */
type ServerTarget = {
  /** Has no trailing slash. */
  readonly basePath: string;
  /** The origin of the server; null for the document's origin. */
  readonly elsewhere: string | null;
  /** Position in `servers` of an entry that names a machine of the reader; null for other entries. */
  readonly localIndex: number | null;
};

/** `local`: the entry names a host that no buyer can reach, or the placeholder of a template. */
type ServerEntry =
  | { readonly kind: 'own'; readonly basePath: string }
  | { readonly kind: 'local'; readonly basePath: string }
  | { readonly kind: 'elsewhere'; readonly origin: string };

const MAX_SERVERS = 20;
const OWN_ROOT: ServerEntry = { kind: 'own', basePath: '' };
const OWN_TARGET: ServerTarget = { basePath: '', elsewhere: null, localIndex: null };

/**
 * Selects the first server on the document's origin, or else the first public server. Servers without a public host
 * mean the document's origin if no server is public. Variables take their defaults. An `http://` server with the
 * document's hostname counts as the document's origin, because a proxy may end TLS.
 */
export function selectServer(
  servers: readonly (JsonValue | undefined)[],
  documentUrl: string,
): ServerTarget {
  const entries = servers.slice(0, MAX_SERVERS).map((server) => readServer(server, documentUrl));
  const own = entries.find((entry) => entry.kind === 'own');
  if (own !== undefined) return { ...OWN_TARGET, basePath: own.basePath };
  const elsewhere = entries.find((entry) => entry.kind === 'elsewhere');
  const localIndex = entries.findIndex(({ kind }) => kind === 'local');
  const local = entries[localIndex];
  // If sellers scan their own machine, a local server means that machine, whatever other servers the document names.
  const isLocalScan = isPrivateHost(new URL(documentUrl).hostname);
  if (local?.kind === 'local' && (isLocalScan || elsewhere === undefined)) {
    const { basePath } = local;
    return { ...OWN_TARGET, basePath, localIndex: isLocalScan ? null : localIndex };
  }
  return { ...OWN_TARGET, elsewhere: elsewhere?.origin ?? null };
}

function readServer(server: JsonValue | undefined, documentUrl: string): ServerEntry {
  const template = jsonText(jsonObject(server)['url']);
  if (template === null || template.length > MAX_ADDRESS_CHARS) return OWN_ROOT;
  const variables = jsonObject(jsonObject(server)['variables']);
  const toDefault = (name: string) => toSegment(jsonObject(variables[name])['default']) ?? '';
  const url = URL.parse(fillTemplate(template, toDefault), documentUrl);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return OWN_ROOT;
  const document = new URL(documentUrl);
  const isBehindProxy = document.protocol === 'https:' && url.protocol === 'http:';
  const isSamePort = url.port === document.port || isBehindProxy;
  const basePath = url.pathname.replace(/\/$/, '');
  if (isSameHostname(url.hostname, document.hostname) && isSamePort)
    return { kind: 'own', basePath };
  return isLocalHost(url.hostname, document.hostname)
    ? { kind: 'local', basePath }
    : { kind: 'elsewhere', origin: url.origin };
}

/** Last labels that no public DNS resolves (RFC 6761, RFC 6762, RFC 8375, and ICANN's .internal). */
const LOCAL_SUFFIX = /\.(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa|cluster)$/;
/** IANA's example names (RFC 2606): "example.com", "api.example.org", "shop.example". */
const EXAMPLE_HOST = /(?:^|\.)example\.[a-z]{2,}$|^[^.]+\.example$/;
/** Labels that templates leave for the seller to fill in: "yourdomain", "api-your-app", "your_host", "changeme". */
const PLACEHOLDER_LABEL =
  /^(?:.*[-_])?your[-_].+$|^your(?:own)?(?:domain|site|web|host|app|api|server|compan|shop|store|service|url|project|name|sub|org|brand|endpoint|seller|business)|^my[-_]?(?:domain|hostname)$|^(?:changeme|change-me|placeholder|replace[-_]?me|todo|domain|subdomain|hostname)$/;

/** Returns true for loopback, unspecified and private addresses, and for names that public DNS does not resolve. */
function isPrivateHost(hostname: string): boolean {
  const host = toPlainHost(hostname);
  if (isIP(host) !== 0) return isBlockedAddress(host);
  return !host.includes('.') || LOCAL_SUFFIX.test(host);
}

/**
 * Returns true for a host that does not name another seller: a private host, or the placeholder of a template. If the
 * seller's own host is an example name, other example names count as hosts of sellers.
 */
export function isLocalHost(hostname: string, ownHostname = ''): boolean {
  if (isPrivateHost(hostname)) return true;
  if (EXAMPLE_HOST.test(toPlainHost(ownHostname))) return false;
  const host = toPlainHost(hostname);
  return EXAMPLE_HOST.test(host) || host.split('.').some((label) => PLACEHOLDER_LABEL.test(label));
}

function toPlainHost(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
