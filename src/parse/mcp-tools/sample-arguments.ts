/**
 * Makes the arguments for one call of a read-only tool: the required members of its input schema. Servers
 * validate them before they ask for payment, so an empty object would mostly show no challenge.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
} from '../json/json.ts';

const MAX_DEPTH = 4;
const MAX_MEMBERS = 32;
const MAX_ITEMS = 8;
const MAX_CHARS = 256;
const SAMPLE = 'example';

/** Samples by `format` that a JSON Schema validator accepts. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** Never throws. Patterns and references are ignored, so a sample may fail them. */
export function sampleArguments(schema: JsonValue | undefined): JsonObject {
  const sample = sampleValue(jsonObject(schema), 0);
  return isJsonObject(sample) ? sample : {};
}

function sampleValue(schema: JsonObject, depth: number): JsonValue {
  const given = statedValue(schema);
  if (given !== undefined) return given;
  const [branch] = jsonList(schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']);
  if (isJsonObject(branch) && depth < MAX_DEPTH) return sampleValue(branch, depth + 1);
  switch (readType(schema)) {
    case 'object':
      return sampleObject(schema, depth);
    case 'array':
      return sampleItems(schema, depth);
    case 'integer':
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return sampleText(schema);
  }
}

/** The seller's own example comes first. */
function statedValue(schema: JsonObject): JsonValue | undefined {
  const { const: only, default: usual, example } = schema;
  const candidates = [only, jsonList(schema['examples'])[0], example, usual];
  const stated = candidates.find((value) => value !== undefined && value !== null);
  const value = stated ?? jsonList(schema['enum'])[0];
  // Bounds the size of a call, whatever example a schema has.
  return value !== undefined && JSON.stringify(value).length <= MAX_CHARS ? value : undefined;
}

function readType(schema: JsonObject): JsonValue | undefined {
  const { type } = schema;
  if (type === undefined) return isJsonObject(schema['properties']) ? 'object' : undefined;
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type;
}

function sampleObject(schema: JsonObject, depth: number): JsonObject {
  if (depth >= MAX_DEPTH) return {};
  const properties = jsonObject(schema['properties']);
  const required = jsonList(schema['required']).slice(0, MAX_MEMBERS);
  const members = required
    .filter((name) => typeof name === 'string')
    .map((name): readonly [string, JsonValue] => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, sampleValue(jsonObject(property), depth + 1)];
    });
  return Object.fromEntries(members);
}

function sampleItems(schema: JsonObject, depth: number): readonly JsonValue[] {
  const least = Math.min(Number(schema['minItems'] ?? 0) || 0, MAX_ITEMS);
  if (depth >= MAX_DEPTH || least < 1) return [];
  return Array.from({ length: least }, () => sampleValue(jsonObject(schema['items']), depth + 1));
}

function sampleNumber({ minimum, exclusiveMinimum, maximum }: JsonObject): number {
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  if (typeof minimum === 'number') return minimum;
  return typeof maximum === 'number' && maximum < 1 ? maximum : 1;
}

function sampleText({ format, minLength, maxLength }: JsonObject): string {
  if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? '';
  const least = typeof minLength === 'number' ? Math.min(minLength, MAX_CHARS) : 0;
  const most = typeof maxLength === 'number' ? Math.max(maxLength, 0) : MAX_CHARS;
  return SAMPLE.padEnd(least, 'x').slice(0, most);
}
