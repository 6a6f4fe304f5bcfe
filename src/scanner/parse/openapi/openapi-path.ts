import { isJsonList, type JsonObject, type JsonValue, jsonList, jsonObject } from '../json/json.ts';
import type { RefResolver } from '../json/json-pointer.ts';

const MAX_VALUE_CHARS = 200;
export const MAX_ADDRESS_CHARS = 2_048;
const COMPOSITIONS = ['allOf', 'anyOf', 'oneOf'];
const ROUTER_PARAMETER = /\/(?::(\w+)|\[(\w+)\]|%5B(\w+)%5D)(?=[/?]|$)/gi;
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
export function fillTemplate(template: string, toValue: (name: string) => string): string {
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
export function toSegment(value: JsonValue | undefined): string | null {
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

/** Writes ":id" and "[id]", the notation of routers, as "{id}". */
export function toBraces(template: string): string {
  return template.replace(
    ROUTER_PARAMETER,
    (_, colon?: string, bracket?: string, encoded?: string) =>
      `/{${colon ?? bracket ?? encoded ?? ''}}`,
  );
}

export function hasPathParameters(template: string): boolean {
  return template.includes('{');
}
