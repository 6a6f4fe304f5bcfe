import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';
import { readJson } from './read-json.ts';
import { UsageError } from './usage-error.ts';

/** Reads the output of `scan --format json`. Throws UsageError where `schema`, which must describe `Report`, refuses it. */
export async function readReport<Report>(file: string, schema: TSchema): Promise<Report> {
  const value: unknown = await readJson(file);
  const validate = new Ajv().compile<Report>(schema);
  if (validate(value)) return value;
  throw new UsageError(`${file}: no scan report; make one with scan --format json --output FILE`);
}
