import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema';
import { cleanText, quoteText } from '../text/text.ts';
import type { JsonValue } from './json.ts';
import { safeSchema } from './json-schema-copy.ts';

const MAX_ERRORS = 5;
const MAX_ERROR_CHARS = 160;
const MAX_REFERENCE_CHARS = 80;
const UNRESOLVED = /^Unresolved \$ref "([^"]*)"/;
/** Keywords whose errors only repeat that a nested schema failed. */
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
 * Validates by JSON Schema 2020-12 and returns the first violations; empty when schema and instance are
 * valid. `pattern` is skipped, because it is a regular expression written by an origin, and so is
 * `format`, an annotation in 2020-12. Only local `$ref` are followed. Runtime depends on the schema: call
 * it where it can be killed.
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

/** The library throws for faults of the schema: a reference that leads nowhere, or is circular. */
function whyNot(error: unknown): string {
  if (error instanceof RangeError) return 'schema: its references run in circles';
  const reference = error instanceof Error ? UNRESOLVED.exec(error.message)?.[1] : undefined;
  if (reference === undefined) return 'schema: cannot be evaluated';
  return shorten(`schema: $ref ${quoteText(reference, MAX_REFERENCE_CHARS)} leads nowhere`);
}

function shorten(text: string): string {
  return cleanText(text, MAX_ERROR_CHARS);
}
