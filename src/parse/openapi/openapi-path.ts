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
const MAX_EXAMPLES = 5;
const MAX_NAMES = 20;
const FALLBACK = 'example';
const UUID = '00000000-0000-4000-8000-000000000000';

/** Server that an operation's requests go to. */
export type ServerPlace =
  /** Base path on the document's origin, without a trailing slash. */
  | { readonly kind: 'own'; readonly basePath: string }
  | { readonly kind: 'elsewhere'; readonly origin: string };

const MAX_SERVERS = 20;
const OWN_ROOT: ServerPlace = { kind: 'own', basePath: '' };

/**
 * Selects the first server on the document's origin; without one, the first server. `http://` with the
 * same host counts as the same origin, because a proxy may end TLS. Variables take their defaults.
 */
export function serverPlace(
  servers: readonly (JsonValue | undefined)[],
  documentUrl: string,
): ServerPlace {
  const places = servers.slice(0, MAX_SERVERS).map((server) => toServerPlace(server, documentUrl));
  return places.find(({ kind }) => kind === 'own') ?? places[0] ?? OWN_ROOT;
}

function toServerPlace(server: JsonValue | undefined, documentUrl: string): ServerPlace {
  const written = jsonText(jsonObject(server)['url']);
  if (written === null || written.length > MAX_ADDRESS_CHARS) return OWN_ROOT;
  const variables = jsonObject(jsonObject(server)['variables']);
  const filled = fillTemplate(
    written,
    (name) => toSegment(jsonObject(variables[name])['default']) ?? '',
  );
  if (!URL.canParse(filled, documentUrl)) return OWN_ROOT;
  const url = new URL(filled, documentUrl);
  const own = new URL(documentUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return OWN_ROOT;
  const isBehindProxy = own.protocol === 'https:' && url.protocol === 'http:';
  const isOwn = url.hostname === own.hostname && (url.port === own.port || isBehindProxy);
  if (!isOwn) return { kind: 'elsewhere', origin: url.origin };
  const basePath = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  return { kind: 'own', basePath };
}

export type RequestPath = {
  /**
   * Path and query, safe to append to an origin: it starts with exactly one slash, because "//host" would
   * address another host.
   */
  readonly path: string;
  /** True when a value is declared nowhere, so the origin may have no such item. */
  readonly isMadeUp: boolean;
};

export function toRequestPath(
  basePath: string,
  template: string,
  parameters: readonly JsonObject[],
  follow: RefResolver,
): RequestPath {
  const inPath = parameters.filter((one) => one['in'] === 'path');
  const byName = new Map(inPath.map((one) => [one['name'], one]));
  let isMadeUp = false;
  const write = (parameter: JsonObject): string => {
    const declared = declaredValue(parameter, follow);
    isMadeUp ||= declared === null;
    return encodeURIComponent(declared ?? madeUpValue(jsonObject(follow(parameter['schema']))));
  };
  const filled = fillTemplate(template, (name) => write(byName.get(name) ?? {}));
  // A placeholder host is used, because only path and query are kept.
  let written = `https://origin.invalid${basePath}${filled}`;
  for (const parameter of requiredQuery(parameters)) {
    if (written.length > MAX_ADDRESS_CHARS) break;
    const name = encodeURIComponent(toSegment(parameter['name']) ?? '');
    written += `${written.includes('?') ? '&' : '?'}${name}=${write(parameter)}`;
  }
  const url = URL.canParse(written) ? new URL(written) : null;
  const path = `/${(url?.pathname ?? '').replace(/^\/+/, '')}${url?.search ?? ''}`;
  return { path, isMadeUp };
}

function requiredQuery(parameters: readonly JsonObject[]): readonly JsonObject[] {
  const required = parameters.filter((one) => one['in'] === 'query' && one['required'] === true);
  return required.filter((one) => toSegment(one['name']) !== null).slice(0, MAX_NAMES);
}

/**
 * Replaces each `{name}`. An unclosed brace stays, and so do names beyond MAX_NAMES. Stops once the
 * result exceeds the longest address that is requested.
 */
function fillTemplate(template: string, write: (name: string) => string): string {
  let filled = '';
  let at = 0;
  for (let names = 0; names < MAX_NAMES; names += 1) {
    if (filled.length > MAX_ADDRESS_CHARS) return filled;
    const open = template.indexOf('{', at);
    const close = open === -1 ? -1 : template.indexOf('}', open);
    if (close === -1) break;
    filled += template.slice(at, open) + write(template.slice(open + 1, close));
    at = close + 1;
  }
  return filled + template.slice(at);
}

/** Returns the declared example, default or first enum value; null when there is none. */
function declaredValue(parameter: JsonObject, follow: RefResolver): string | null {
  const schema = jsonObject(follow(parameter['schema']));
  const candidates = [
    parameter['example'],
    ...namedExamples(parameter['examples'], follow),
    schema['example'],
    ...jsonList(schema['examples']).slice(0, MAX_EXAMPLES),
    schema['default'],
    ...jsonList(schema['enum']).slice(0, MAX_EXAMPLES),
    schema['const'],
  ];
  for (const candidate of candidates) {
    const text = toSegment(isJsonList(candidate) ? candidate[0] : candidate);
    if (text !== null) return text;
  }
  return null;
}

/** Returns the first few: thousands of operations may share a parameter. */
function namedExamples(
  examples: JsonValue | undefined,
  follow: RefResolver,
): readonly (JsonValue | undefined)[] {
  const values: (JsonValue | undefined)[] = [];
  for (const name in jsonObject(examples)) {
    if (values.length >= MAX_EXAMPLES) break;
    values.push(jsonObject(follow(jsonObject(examples)[name]))['value']);
  }
  return values;
}

/** Formats a value as one path segment; never a dot segment, which would leave the base path. */
function toSegment(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null || typeof value === 'object') return null;
  const text = String(value).slice(0, MAX_VALUE_CHARS).toWellFormed();
  return text === '' || text === '.' || text === '..' ? null : text;
}

function madeUpValue(schema: JsonObject): string {
  const type = jsonList(schema['type'])[0] ?? schema['type'];
  if (type === 'integer' || type === 'number') return toSegment(schema['minimum']) ?? '1';
  if (type === 'boolean') return 'true';
  return schema['format'] === 'uuid' ? UUID : FALLBACK;
}

export function hasPathParameters(template: string): boolean {
  return template.includes('{');
}

/** Returns true when a request needs parameters outside the path. */
export function needsParameters(parameters: readonly JsonObject[]): boolean {
  return parameters.some((one) => one['in'] !== 'path' && one['required'] === true);
}
