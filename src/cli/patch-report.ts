import { Type } from 'typebox';
import type { PatchReport } from '../patches/patch-values.ts';
import { readReport } from './io.ts';

const textOrNull = Type.Union([Type.String(), Type.Null()]);
const offer = Type.Object({
  scheme: textOrNull,
  network: textOrNull,
  asset: textOrNull,
  amount: textOrNull,
  payTo: textOrNull,
});
const paidRoute = Type.Object({
  method: textOrNull,
  template: textOrNull,
  path: Type.String(),
  description: textOrNull,
  mimeType: textOrNull,
  offers: Type.Array(offer),
});
const operation = Type.Object({ method: Type.String(), template: Type.String() });
const routes = Type.Object({
  paid: Type.Array(paidRoute),
  signIn: Type.Array(operation),
  free: Type.Array(operation),
  isComplete: Type.Boolean(),
});
const schema = Type.Object({
  origin: Type.String(),
  results: Type.Array(Type.Object({ id: Type.String(), outcome: Type.String() })),
  routes: Type.Optional(Type.Union([routes, Type.Null()])),
});

/** Throws UsageError where the file is no report. */
export function readPatchReport(file: string): Promise<PatchReport> {
  return readReport<PatchReport>(file, schema);
}
