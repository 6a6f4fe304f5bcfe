/**
 * Makes the arguments for one call of a read-only tool: the required members of its input schema. Most servers
 * validate arguments before they ask for payment, so a call without arguments would not get a challenge.
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
const MAX_SAMPLE_CHARS = 256;
const SAMPLE_TEXT = 'example';

/** Valid samples, by the `format` of a JSON Schema. */
const SAMPLES_BY_FORMAT: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['date', '2026-01-01'],
  ['date-time', '2026-01-01T00:00:00Z'],
  ['time', '00:00:00Z'],
  ['email', 'someone@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
]);

/** Never throws. Ignores `pattern` and `$ref`, so the sample may violate them. */
export function toSampleArguments(schema: JsonValue | undefined): JsonObject {
  const sample = toSampleValue(jsonObject(schema), 0);
  return isJsonObject(sample) ? sample : {};
}

function toSampleValue(schema: JsonObject, depth: number): JsonValue {
  const statedValue = findStatedValue(schema);
  if (statedValue !== undefined) return statedValue;
  const [branch] = jsonList(schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']);
  if (isJsonObject(branch) && depth < MAX_DEPTH) return toSampleValue(branch, depth + 1);
  switch (readType(schema)) {
    case 'object':
      return toSampleObject(schema, depth);
    case 'array':
      return toSampleItems(schema, depth);
    case 'integer':
    case 'number':
      return toSampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return toSampleText(schema);
  }
}

/** Returns the first value that the schema states, such as an example; undefined if it is missing or too long. */
function findStatedValue(schema: JsonObject): JsonValue | undefined {
  const { const: constant, default: defaultValue, example } = schema;
  const candidates = [constant, jsonList(schema['examples'])[0], example, defaultValue];
  const annotated = candidates.find((candidate) => candidate !== undefined && candidate !== null);
  const value = annotated ?? jsonList(schema['enum'])[0];
  return value !== undefined && JSON.stringify(value).length <= MAX_SAMPLE_CHARS
    ? value
    : undefined;
}

function readType(schema: JsonObject): JsonValue | undefined {
  const { type } = schema;
  if (type === undefined) return isJsonObject(schema['properties']) ? 'object' : undefined;
  return Array.isArray(type) ? type.find((name) => name !== 'null') : type;
}

function toSampleObject(schema: JsonObject, depth: number): JsonObject {
  if (depth >= MAX_DEPTH) return {};
  const properties = jsonObject(schema['properties']);
  const required = jsonList(schema['required']).slice(0, MAX_MEMBERS);
  const members = required
    .filter((name) => typeof name === 'string')
    .map((name): readonly [string, JsonValue] => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, toSampleValue(jsonObject(property), depth + 1)];
    });
  return Object.fromEntries(members);
}

function toSampleItems(schema: JsonObject, depth: number): readonly JsonValue[] {
  const length = Math.min(Number(schema['minItems'] ?? 0) || 0, MAX_ITEMS);
  if (depth >= MAX_DEPTH || length < 1) return [];
  return Array.from({ length }, () => toSampleValue(jsonObject(schema['items']), depth + 1));
}

function toSampleNumber({ minimum, exclusiveMinimum, maximum }: JsonObject): number {
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  if (typeof minimum === 'number') return minimum;
  return typeof maximum === 'number' && maximum < 1 ? maximum : 1;
}

function toSampleText({ format, minLength, maxLength }: JsonObject): string {
  const sample = SAMPLES_BY_FORMAT.get(format);
  if (sample !== undefined) return sample;
  const minChars = typeof minLength === 'number' ? Math.min(minLength, MAX_SAMPLE_CHARS) : 0;
  const maxChars = typeof maxLength === 'number' ? Math.max(maxLength, 0) : MAX_SAMPLE_CHARS;
  return SAMPLE_TEXT.padEnd(minChars, 'x').slice(0, maxChars);
}
