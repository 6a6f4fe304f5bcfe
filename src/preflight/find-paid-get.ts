/** Runs on a worker, because a seller wrote the documents. */
import type { Observations } from '../model/observations.ts';
import { createKit } from '../parse/kit/kit.ts';
import { findResources } from '../probe/plan/find-resources.ts';
import { EMPTY_OBSERVATIONS } from '../scan/empty-observations.ts';

export type DeclaringDocuments = Pick<Observations, 'origin' | 'manifest' | 'openapi'>;

/**
 * The path of the first resource that is declared paid and bought by GET. Where there are several, one
 * whose parameters are declared goes before one with made-up values. Null when there is none.
 */
export function findPaidGet(documents: DeclaringDocuments): string | null {
  const { resources } = findResources({ ...EMPTY_OBSERVATIONS, ...documents }, createKit());
  const bought = resources.filter(({ method, declaredPaid }) => declaredPaid && method !== 'POST');
  return (bought.find(({ madeUp }) => !madeUp) ?? bought[0])?.path ?? null;
}
