/** A saved report, read for the values that patches are filled in with. */
import { Type } from '../model/schema.ts';
import type { PatchReport } from '../patches/patch-values.ts';
import { readReport } from './read-report.ts';

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
export function readPatchReport(file: string): Promise<PatchReport> {
  return readReport<PatchReport>(file, schema);
}
