/** A saved report, read for the values that patches are filled in with. */
import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import type { PatchReport } from '../patches/patch-values.ts';
import { UsageError } from './usage-error.ts';

const textOrNull = Type.Union([Type.String(), Type.Null()]);
const offer = Type.Object({ network: textOrNull, asset: textOrNull, amount: textOrNull });
const resource = Type.Object({
  method: Type.String(),
  path: Type.String(),
  offers: Type.Array(offer),
});
const schema = Type.Object({
  origin: Type.String(),
  results: Type.Array(
    Type.Object({ id: Type.String(), outcome: Type.String(), evidence: Type.String() }),
  ),
  payability: Type.Optional(Type.Union([Type.Array(resource), Type.Null()])),
});

/** Throws UsageError where the file is no report. */
export async function readPatchReport(file: string): Promise<PatchReport> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file}: cannot be read as JSON (${reason})`);
  }
  const validate = new Ajv().compile<PatchReport>(schema);
  if (validate(value)) return value;
  throw new UsageError(`${file}: no scan report; make one with scan --format json --output FILE`);
}
