import type { Schema } from '@cfworker/json-schema';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, showJson } from './json.ts';
import { pointerStep } from './json-pointer.ts';

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

type Kind =
  | 'schema'
  | 'schemas'
  | 'schema-map'
  | 'names'
  | 'name-lists'
  | 'number'
  | 'count'
  | 'list'
  | 'flag'
  | 'type'
  | 'ref'
  | 'text'
  | 'any';

/** Keywords of 2020-12 with the form of their value. Other members are copied unchanged. */
const KEYWORDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...each('schema', 'not if then else items contains additionalProperties propertyNames'),
  ...each('schema', 'unevaluatedItems unevaluatedProperties'),
  ...each('schemas', 'allOf anyOf oneOf prefixItems'),
  ...each('schema-map', '$defs definitions properties dependentSchemas'),
  ...each('names', 'required'),
  ...each('name-lists', 'dependentRequired'),
  ...each('number', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...each('count', 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...each('count', 'minContains maxContains'),
  ...each('list', 'enum'),
  ...each('flag', 'uniqueItems'),
  ...each('type', 'type'),
  ...each('ref', '$ref'),
  ...each('text', '$anchor'),
  ...each('any', 'const'),
]);

/**
 * Never copied: regular expressions written by an origin, `$id` bases that would redirect local
 * references, names that the library reserves, and annotations. Keywords that depend on
 * `patternProperties` go with it.
 */
const LEFT_OUT = new Set(
  'pattern patternProperties format $id id $schema $vocabulary $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $comment title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema dependencies additionalItems __absolute_uri__ __absolute_ref__ __absolute_recursive_ref__'.split(
    ' ',
  ),
);
const COUNTS_ON_PATTERNS = new Set(['additionalProperties', 'unevaluatedProperties']);

export type SafeSchema = { readonly copy: Schema; readonly errors: readonly string[] };

/**
 * Copies an origin's schema without its regular expressions. Evaluation has unbounded cost (a few lines
 * of nested `anyOf` take 2^n steps), so it must run on a thread that can be killed. `errors` has JSON
 * pointers to invalid parts of the schema.
 */
export function safeSchema(schema: JsonValue): SafeSchema {
  const copier = new Copier();
  const copy = copier.schema(schema, '');
  return { copy, errors: copier.errors };
}

class Copier {
  readonly errors: string[] = [];

  schema(value: JsonValue | undefined, at: string): Schema {
    if (value === true) return {};
    if (value === false) return { not: {} };
    if (!isJsonObject(value)) {
      this.#refuse(at, 'is not a schema', value);
      return {};
    }
    const copy: Schema = {};
    const hasPatterns = value['patternProperties'] !== undefined;
    for (const [keyword, member] of Object.entries(value)) {
      if (LEFT_OUT.has(keyword) || member === undefined) continue;
      if (hasPatterns && COUNTS_ON_PATTERNS.has(keyword)) continue;
      set(copy, keyword, this.#member(keyword, member, `${at}/${pointerStep(keyword)}`));
    }
    return copy;
  }

  #member(keyword: string, value: JsonValue, at: string): unknown {
    const kind = KEYWORDS.get(keyword);
    switch (kind) {
      case 'schema':
        return this.schema(value, at);
      case 'schemas':
        return this.#schemas(value, at);
      case 'schema-map':
        return this.#schemaMap(value, at);
      case undefined:
        // Authors may keep schemas under any member ("#/components/schemas/X" may point into it).
        return isJsonObject(value) ? this.#unknown(value, at) : undefined;
      default:
        if (!isOfKind(kind, value)) this.#refuse(at, EXPECTED[kind], value);
        return value;
    }
  }

  #schemas(value: JsonValue, at: string): unknown {
    if (isJsonList(value) && value.length > 0) {
      return value.map((one, index) => this.schema(one, `${at}/${index}`));
    }
    this.#refuse(at, 'is not a list of schemas', value);
    return [];
  }

  #schemaMap(value: JsonValue, at: string): object {
    if (!isJsonObject(value)) this.#refuse(at, 'is not an object of schemas', value);
    const copy = {};
    for (const [name, one] of Object.entries(isJsonObject(value) ? value : {})) {
      set(copy, name, this.schema(one, `${at}/${pointerStep(name)}`));
    }
    return copy;
  }

  /** An unknown member may hold anything until a `$ref` names it. */
  #unknown(value: JsonObject, at: string): unknown {
    const known = this.errors.length;
    const copy = this.schema(value, at);
    this.errors.length = known;
    return copy;
  }

  #refuse(at: string, why: string, value: JsonValue | undefined): void {
    this.errors.push(`schema ${at === '' ? '/' : at} ${why}: ${showJson(value, 40)}`);
  }
}

const EXPECTED: Readonly<Record<Exclude<Kind, 'schema' | 'schemas' | 'schema-map'>, string>> = {
  names: 'is not a list of names',
  'name-lists': 'is not an object of lists of names',
  number: 'is not a number',
  count: 'is not a count',
  list: 'is not a list',
  flag: 'is neither true nor false',
  type: 'is not a JSON type',
  ref: 'is not a local reference',
  text: 'is not a name',
  any: '',
};

function isOfKind(kind: keyof typeof EXPECTED, value: JsonValue): boolean {
  switch (kind) {
    case 'names':
      return isNames(value);
    case 'name-lists':
      return isJsonObject(value) && Object.values(value).every((one) => isNames(one));
    case 'number':
      return typeof value === 'number';
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0;
    case 'list':
      return isJsonList(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'type':
      return (isJsonList(value) ? value : [value]).every(
        (one) => typeof one === 'string' && TYPES.has(one),
      );
    case 'ref':
      return typeof value === 'string' && value.startsWith('#');
    case 'text':
      return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9._-]{0,100}$/.test(value);
    case 'any':
      return true;
  }
}

function isNames(value: JsonValue | undefined): boolean {
  return isJsonList(value) && value.every((name) => typeof name === 'string');
}

/** Defines the member: assigning "__proto__", an ordinary JSON member, would set the prototype. */
function set<T extends object>(target: T, name: string, value: unknown): T {
  if (value === undefined) return target;
  return Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function each(kind: Kind, names: string): readonly (readonly [string, Kind])[] {
  return names.split(' ').map((name) => [name, kind] as const);
}
