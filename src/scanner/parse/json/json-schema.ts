import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema';
import { cleanText, quoteText } from '../text/text.ts';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, showJson } from './json.ts';
import { escapePointerStep } from './json-pointer.ts';

const MAX_ERRORS = 5;
const MAX_ERROR_CHARS = 160;
const MAX_REFERENCE_CHARS = 80;
const UNRESOLVED_REFERENCE = /^Unresolved \$ref "([^"]*)"/;
/** Keywords whose errors only repeat that a nested schema failed. */
const WRAPPER_KEYWORDS = new Set([
  'properties',
  'items',
  'prefixItems',
  '$ref',
  'allOf',
  'additionalProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'if',
]);

/**
 * Returns the first violations of JSON Schema 2020-12; none if schema and instance are valid. Ignores
 * `pattern`, a regular expression that an origin wrote, and `format`, which is an annotation in 2020-12.
 * Follows only local `$ref`. The schema decides how long this runs, so call it on a thread that can be killed.
 */
export function listSchemaErrors(schema: JsonValue, instance: JsonValue): readonly string[] {
  const { copy, errors } = copySchema(schema);
  if (errors.length > 0) return errors.slice(0, MAX_ERRORS).map(shorten);
  try {
    return describeUnits(validate(instance, copy, '2020-12').errors);
  } catch (error) {
    return [describeThrown(error)];
  }
}

function describeUnits(units: readonly OutputUnit[]): readonly string[] {
  const causes = units.filter((unit) => !WRAPPER_KEYWORDS.has(unit.keyword));
  return (causes.length > 0 ? causes : units).slice(0, MAX_ERRORS).map((unit) => {
    const pointer = unit.instanceLocation.replace(/^#/, '') || '/';
    const violation = unit.keyword === 'not' ? 'not allowed by the schema' : unit.error;
    return shorten(`${pointer}: ${violation}`);
  });
}

/** The library throws if a reference of the schema leads nowhere or is circular. */
function describeThrown(error: unknown): string {
  if (error instanceof RangeError) return 'schema: its references run in circles';
  const reference =
    error instanceof Error ? UNRESOLVED_REFERENCE.exec(error.message)?.[1] : undefined;
  if (reference === undefined) return 'schema: cannot be evaluated';
  return shorten(`schema: $ref ${quoteText(reference, MAX_REFERENCE_CHARS)} leads nowhere`);
}

function shorten(text: string): string {
  return cleanText(text, MAX_ERROR_CHARS);
}

const JSON_TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

type ValueForm = 'schema' | 'schemas' | 'schema-map' | keyof typeof FORM_ERRORS;

/** Keywords of JSON Schema 2020-12, by the form of their value. */
const KEYWORDS: ReadonlyMap<string, ValueForm> = new Map<string, ValueForm>([
  ...toEntries('schema', 'not if then else items contains additionalProperties propertyNames'),
  ...toEntries('schema', 'unevaluatedItems unevaluatedProperties'),
  ...toEntries('schemas', 'allOf anyOf oneOf prefixItems'),
  ...toEntries('schema-map', '$defs definitions properties dependentSchemas'),
  ...toEntries('names', 'required'),
  ...toEntries('name-lists', 'dependentRequired'),
  ...toEntries('number', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...toEntries('count', 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...toEntries('count', 'minContains maxContains'),
  ...toEntries('list', 'enum'),
  ...toEntries('flag', 'uniqueItems'),
  ...toEntries('type', 'type'),
  ...toEntries('ref', '$ref'),
  ...toEntries('text', '$anchor'),
  ...toEntries('any', 'const'),
]);

/**
 * These keywords are never copied: an origin's regular expressions, annotations, names that the library reserves, and
 * `$id`, which would redirect local references.
 */
const OMITTED_KEYWORDS = new Set(
  'pattern patternProperties format $id id $schema $vocabulary $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $comment title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema dependencies additionalItems __absolute_uri__ __absolute_ref__ __absolute_recursive_ref__'.split(
    ' ',
  ),
);
/** These keywords depend on `patternProperties`. A schema that has `patternProperties` is copied without them. */
const PATTERN_DEPENDENTS = new Set(['additionalProperties', 'unevaluatedProperties']);

type SchemaCopy = { readonly copy: Schema; readonly errors: readonly string[] };

/**
 * Copies an origin's schema without its regular expressions. `errors` names the invalid parts of the schema by
 * JSON pointer. Evaluate the copy on a thread that can be killed: a few lines of nested `anyOf` take 2^n steps.
 */
function copySchema(schema: JsonValue): SchemaCopy {
  const copier = new Copier();
  const copy = copier.copySchema(schema, '');
  return { copy, errors: copier.errors };
}

class Copier {
  readonly errors: string[] = [];

  copySchema(value: JsonValue | undefined, pointer: string): Schema {
    if (value === true) return {};
    if (value === false) return { not: {} };
    if (!isJsonObject(value)) {
      this.#addError(pointer, 'is not a schema', value);
      return {};
    }
    const copy: Schema = {};
    const hasPatterns = value['patternProperties'] !== undefined;
    for (const [keyword, member] of Object.entries(value)) {
      if (OMITTED_KEYWORDS.has(keyword) || member === undefined) continue;
      if (hasPatterns && PATTERN_DEPENDENTS.has(keyword)) continue;
      const memberPointer = `${pointer}/${escapePointerStep(keyword)}`;
      defineMember(copy, keyword, this.#copyMember(keyword, member, memberPointer));
    }
    return copy;
  }

  #copyMember(keyword: string, value: JsonValue, pointer: string): unknown {
    const form = KEYWORDS.get(keyword);
    switch (form) {
      case 'schema':
        return this.copySchema(value, pointer);
      case 'schemas':
        return this.#copySchemas(value, pointer);
      case 'schema-map':
        return this.#copySchemaMap(value, pointer);
      case undefined:
        // Any member may hold schemas: a `$ref` such as "#/components/schemas/X" may point into it.
        return isJsonObject(value) ? this.#copyUnknownMember(value, pointer) : undefined;
      default:
        if (!hasForm(form, value)) this.#addError(pointer, FORM_ERRORS[form], value);
        return value;
    }
  }

  #copySchemas(value: JsonValue, pointer: string): unknown {
    if (isJsonList(value) && value.length > 0) {
      return value.map((item, index) => this.copySchema(item, `${pointer}/${index}`));
    }
    this.#addError(pointer, 'is not a list of schemas', value);
    return [];
  }

  #copySchemaMap(value: JsonValue, pointer: string): object {
    if (!isJsonObject(value)) this.#addError(pointer, 'is not an object of schemas', value);
    const copy = {};
    for (const [name, member] of Object.entries(isJsonObject(value) ? value : {})) {
      defineMember(copy, name, this.copySchema(member, `${pointer}/${escapePointerStep(name)}`));
    }
    return copy;
  }

  /** An unknown member need not be a schema, so its errors do not count. */
  #copyUnknownMember(value: JsonObject, pointer: string): unknown {
    const errorsBefore = this.errors.length;
    const copy = this.copySchema(value, pointer);
    this.errors.length = errorsBefore;
    return copy;
  }

  #addError(pointer: string, message: string, value: JsonValue | undefined): void {
    this.errors.push(`schema ${pointer === '' ? '/' : pointer} ${message}: ${showJson(value, 40)}`);
  }
}

/** Errors of values in the wrong form, by the form. Values of these forms hold no schemas. */
const FORM_ERRORS = {
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

function hasForm(form: keyof typeof FORM_ERRORS, value: JsonValue): boolean {
  switch (form) {
    case 'names':
      return isNameList(value);
    case 'name-lists':
      return isJsonObject(value) && Object.values(value).every((names) => isNameList(names));
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
        (type) => typeof type === 'string' && JSON_TYPES.has(type),
      );
    case 'ref':
      return typeof value === 'string' && value.startsWith('#');
    case 'text':
      return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9._-]{0,100}$/.test(value);
    case 'any':
      return true;
  }
}

function isNameList(value: JsonValue | undefined): boolean {
  return isJsonList(value) && value.every((name) => typeof name === 'string');
}

/** "__proto__" is an ordinary JSON member, but an assignment to it would set the prototype. */
function defineMember(target: object, name: string, value: unknown): void {
  if (value === undefined) return;
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function toEntries(form: ValueForm, keywords: string): readonly (readonly [string, ValueForm])[] {
  return keywords.split(' ').map((keyword) => [keyword, form] as const);
}
