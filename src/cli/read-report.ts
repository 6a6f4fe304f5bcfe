import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';
import { UsageError } from './usage-error.ts';

/** Reads the output of `scan --format json`. Throws UsageError where `schema`, which must describe `Report`, refuses it. */
export async function readReport<Report>(file: string, schema: TSchema): Promise<Report> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file}: cannot be read as JSON (${reason})`);
  }
  const validate = new Ajv().compile<Report>(schema);
  if (validate(value)) return value;
  throw new UsageError(`${file}: no scan report; make one with scan --format json --output FILE`);
}
