/** What checks say of themselves, written down: a start reads it in place of forty modules. */
import { readFile } from 'node:fs/promises';
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
export async function readKnownChecks(root: URL): Promise<KnownChecks> {
  const [bundled, facts] = await Promise.all([
    readTable<KnownChecks['bundled']>(new URL(BUNDLED, root)),
    readTable<KnownChecks['facts']>(new URL(FACTS, root)),
  ]);
  return { bundled: bundled ?? {}, facts: facts ?? {} };
}

async function readTable<Table>(url: URL): Promise<Table | null> {
  try {
    return JSON.parse(await readFile(url, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
