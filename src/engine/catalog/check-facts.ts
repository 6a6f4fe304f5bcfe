/** What checks say of themselves, written down: a start reads it in place of forty modules. */
import { readFileSync } from 'node:fs';
import type { CheckDefinition } from '../define-check.ts';

/** What a check says of itself: it is evaluated on workers alone. */
export type CheckFacts = Omit<CheckDefinition, 'evaluate'>;

/** One file of the npm package: the digest of its source, and what it says of itself. */
export type BundledCheck = { readonly digest: string; readonly definition: CheckFacts };

export type KnownChecks = {
  /** Of the npm package, by path, "P6-price-integrity/v2.js". */
  readonly bundled: Readonly<Record<string, BundledCheck>>;
  /** Of a clone, by the digest of the file: one that was changed since is not known. */
  readonly facts: Readonly<Record<string, CheckFacts>>;
};

/** In the npm package: JavaScript, with what it was built from beside it. */
const BUNDLED = 'checks.json';
/** In a clone; `npm run checks:readme` writes it, and a test holds it to the checks. */
export const FACTS = 'facts.json';

/** Both are empty where a folder of checks has no such file. */
export function readKnownChecks(root: URL): KnownChecks {
  const bundled = readTable<KnownChecks['bundled']>(new URL(BUNDLED, root));
  const facts = readTable<KnownChecks['facts']>(new URL(FACTS, root));
  return { bundled: bundled ?? {}, facts: facts ?? {} };
}

function readTable<Table>(url: URL): Table | null {
  try {
    return JSON.parse(readFileSync(url, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
