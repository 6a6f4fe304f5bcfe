/** Finds the operations that one document of a seller prices and the other calls free. */
import type { OpenApiFacts, Operation } from '../openapi/openapi.ts';
import type { ManifestEntry } from './manifest.ts';
import type { EntryIndex } from './manifest-terms.ts';

export type PriceContradiction = {
  readonly method: string;
  readonly path: string;
  /** Pointer of the operation in OpenAPI. */
  readonly operation: string;
  /** Pointer of the entry in the manifest. */
  readonly entry: string;
  /** The document that calls the operation free. */
  readonly freeIn: 'openapi' | 'manifest';
  /** The price in the other document, as it stands there; null if it is no single amount. */
  readonly stated: string | null;
};

const MAX_CONTRADICTIONS = 20;

export function findPriceContradictions(
  { operations }: OpenApiFacts,
  entries: EntryIndex,
): readonly PriceContradiction[] {
  return operations
    .filter(({ elsewhere, priceSign }) => elsewhere === null && priceSign !== null)
    .flatMap((operation) => findContradiction(operation, entries) ?? [])
    .slice(0, MAX_CONTRADICTIONS);
}

function findContradiction(operation: Operation, index: EntryIndex): PriceContradiction | null {
  const { method, template, route, requestPath, pointer, priceSign } = operation;
  const entry = [...new Set([route, template, requestPath])]
    .flatMap((path) => index.get(path) ?? [])
    .map((indexed) => indexed.entry)
    .find((each) => (each.method ?? method) === method && contradicts(each, priceSign === 'zero'));
  if (entry === undefined) return null;
  const freeIn = priceSign === 'zero' ? 'openapi' : 'manifest';
  const stated = freeIn === 'openapi' ? (entry.price ?? entry.amount) : readAmount(operation);
  return { method, path: template, operation: pointer, entry: entry.pointer, freeIn, stated };
}

function readAmount({ price }: Operation): string | null {
  if (price === null) return null;
  return price.kind === 'dynamic' ? (price.max ?? price.min) : price.amount;
}

function contradicts({ sale }: ManifestEntry, isFreeInOpenApi: boolean): boolean {
  return isFreeInOpenApi ? sale === 'priced' : sale === 'free' || sale === 'both';
}
