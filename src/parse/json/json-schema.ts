import { type OutputUnit, validate } from '@cfworker/json-schema';
import { cleanText, quoteText } from '../text/text.ts';
import type { JsonValue } from './json.ts';
import { copySchema } from './json-schema-copy.ts';

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
