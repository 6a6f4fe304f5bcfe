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
  const copier = new SchemaCopier();
  const copy = copier.copySchema(schema, '');
  if (copier.errors.length > 0) return copier.errors.slice(0, MAX_ERRORS).map(shorten);
  try {
    return describeErrors(validate(instance, copy, '2020-12').errors);
  } catch (error) {
    return [describeThrown(error)];
  }
}

function describeErrors(errors: readonly OutputUnit[]): readonly string[] {
  const causes = errors.filter(({ keyword }) => !WRAPPER_KEYWORDS.has(keyword));
  return (causes.length > 0 ? causes : errors).slice(0, MAX_ERRORS).map((unit) => {
    const pointer = unit.instanceLocation.replace(/^#/, '') || '/';
    // The schema `false` is copied as `{ not: {} }`, so the message of the library would name a keyword of ours.
    const violation = unit.keyword === 'not' ? 'not allowed by the schema' : unit.error;
    return shorten(`${pointer}: ${violation}`);
  });
}

/** The library throws if a reference leads nowhere. A circle of references overflows the stack (RangeError). */
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

const JSON_TYPES = new Set<JsonValue>('null boolean object array number string integer'.split(' '));
const ANCHOR = /^[A-Za-z_][A-Za-z0-9._-]{0,100}$/;

type ValueForm = 'schema' | 'schemas' | 'schema-map' | keyof typeof FORMS;

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
  ...toEntries('anchor', '$anchor'),
  ...toEntries('any', 'const'),
]);

/**
 * Keywords that are never copied: an origin's regular expressions, annotations, names that the library reserves, and
 * `$id`, which would redirect local references.
 */
const OMITTED_KEYWORDS = new Set(
  'pattern patternProperties format $id id $schema $vocabulary $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $comment title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema dependencies additionalItems __absolute_uri__ __absolute_ref__ __absolute_recursive_ref__'.split(
    ' ',
  ),
);
/** Keywords that depend on `patternProperties`. A schema that has `patternProperties` is copied without them. */
const PATTERN_DEPENDENTS = new Set(['additionalProperties', 'unevaluatedProperties']);

/**
 * Copies an origin's schema without its regular expressions. `errors` names the invalid parts of the schema by
 * JSON pointer. Evaluate the copy on a thread that can be killed: a few lines of nested `anyOf` take 2^n steps.
 */
class SchemaCopier {
  readonly errors: string[] = [];

  copySchema(value: JsonValue | undefined, pointer: string): Schema {
    if (value === true) return {};
    if (value === false) return { not: {} };
    if (!isJsonObject(value)) {
      this.#addError(pointer, 'is not a schema', value);
      return {};
    }
    const hasPatterns = value['patternProperties'] !== undefined;
    const members = Object.entries(value).flatMap(([keyword, member]) => {
      if (OMITTED_KEYWORDS.has(keyword) || member === undefined) return [];
      if (hasPatterns && PATTERN_DEPENDENTS.has(keyword)) return [];
      const memberPointer = `${pointer}/${escapePointerStep(keyword)}`;
      const copy = this.#copyMember(keyword, member, memberPointer);
      return copy === undefined ? [] : [[keyword, copy] as const];
    });
    // An assignment to the member "__proto__" would set the prototype.
    return Object.fromEntries(members);
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
        if (!FORMS[form].accepts(value)) this.#addError(pointer, FORMS[form].error, value);
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
    if (!isJsonObject(value)) {
      this.#addError(pointer, 'is not an object of schemas', value);
      return {};
    }
    const members = Object.entries(value).map(([name, member]) => {
      return [name, this.copySchema(member, `${pointer}/${escapePointerStep(name)}`)] as const;
    });
    return Object.fromEntries(members);
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

/** Forms of values that hold no schemas, and the error of a value in another form. */
const FORMS = {
  names: { error: 'is not a list of names', accepts: isNameList },
  'name-lists': {
    error: 'is not an object of lists of names',
    accepts: (value) => isJsonObject(value) && Object.values(value).every(isNameList),
  },
  number: { error: 'is not a number', accepts: (value) => typeof value === 'number' },
  count: {
    error: 'is not a count',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0,
  },
  list: { error: 'is not a list', accepts: isJsonList },
  flag: { error: 'is neither true nor false', accepts: (value) => typeof value === 'boolean' },
  type: {
    error: 'is not a JSON type',
    accepts: (value) => (isJsonList(value) ? value : [value]).every((type) => JSON_TYPES.has(type)),
  },
  ref: {
    error: 'is not a local reference',
    accepts: (value) => typeof value === 'string' && value.startsWith('#'),
  },
  anchor: {
    error: 'is not a name',
    accepts: (value) => typeof value === 'string' && ANCHOR.test(value),
  },
  any: { error: '', accepts: () => true },
} satisfies Readonly<Record<string, ValueTest>>;

type ValueTest = { readonly error: string; readonly accepts: (value: JsonValue) => boolean };

function isNameList(value: JsonValue | undefined): boolean {
  return isJsonList(value) && value.every((name) => typeof name === 'string');
}

function toEntries(form: ValueForm, keywords: string): readonly (readonly [string, ValueForm])[] {
  return keywords.split(' ').map((keyword) => [keyword, form] as const);
}
