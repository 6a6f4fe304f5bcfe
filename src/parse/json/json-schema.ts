import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema';
import { cleanText, quoteText } from '../text/text.ts';
import type { JsonValue } from './json.ts';
import { safeSchema } from './json-schema-copy.ts';

const MAX_ERRORS = 5;
const MAX_ERROR_CHARS = 160;
const MAX_REFERENCE_CHARS = 80;
const UNRESOLVED = /^Unresolved \$ref "([^"]*)"/;
/** Keywords whose message only says that something below them failed. */
const WRAPPERS = new Set([
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
 * JSON Schema 2020-12: the first violations, empty where the schema is one and the instance valid.
 * Patterns are not applied, because they are regular expressions built from an origin's text, nor
 * is `format`, an annotation in 2020-12 anyway. Only local `$ref`. Takes as long as the schema
 * makes it: run it where it can be killed.
 */
export function schemaErrors(schema: JsonValue, instance: JsonValue): readonly string[] {
  const { copy, errors } = safeSchema(schema);
  if (errors.length > 0) return errors.slice(0, MAX_ERRORS).map(shorten);
  try {
    return describe(evaluate(copy, instance));
  } catch (error) {
    return [whyNot(error)];
  }
}

function evaluate(schema: Schema, instance: JsonValue): readonly OutputUnit[] {
  return validate(instance, schema, '2020-12').errors;
}

function describe(units: readonly OutputUnit[]): readonly string[] {
  const causes = units.filter((unit) => !WRAPPERS.has(unit.keyword));
  return (causes.length > 0 ? causes : units).slice(0, MAX_ERRORS).map((unit) => {
    const at = unit.instanceLocation.replace(/^#/, '') || '/';
    const what = unit.keyword === 'not' ? 'not allowed by the schema' : unit.error;
    return shorten(`${at}: ${what}`);
  });
}

/** What the library throws is about the schema: a reference that leads nowhere, or in circles. */
function whyNot(error: unknown): string {
  if (error instanceof RangeError) return 'schema: its references run in circles';
  const reference = error instanceof Error ? UNRESOLVED.exec(error.message)?.[1] : undefined;
  if (reference === undefined) return 'schema: cannot be evaluated';
  return shorten(`schema: $ref ${quoteText(reference, MAX_REFERENCE_CHARS)} leads nowhere`);
}

function shorten(text: string): string {
  return cleanText(text, MAX_ERROR_CHARS);
}
