import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { CatalogError } from '../errors.ts';
import { type DiscoveredCheck, fileDigest } from './discover-checks.ts';

export type Published = {
  /** Digests by checksVersion. */
  readonly catalogs: Readonly<Record<string, string>>;
  /** Digests by impl, "P6@2". */
  readonly checks: Readonly<Record<string, string>>;
};

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Throws CatalogError when published.json is missing or malformed. */
export async function readPublished(catalogFolder: URL): Promise<Published> {
  const url = new URL('published.json', catalogFolder);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(url, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CatalogError(`catalog/published.json cannot be read: ${why}`);
  }
  if (!isPublished(parsed)) {
    throw new CatalogError(
      'catalog/published.json must be {"catalogs": {version: digest}, "checks": {impl: digest}}.',
    );
  }
  return parsed;
}

/** Lists every published catalog and check file that is missing or changed, one line each. */
export async function publishedBreaches(
  catalogFolder: URL,
  checks: readonly DiscoveredCheck[],
): Promise<readonly string[]> {
  const { catalogs, checks: pinned } = await readPublished(catalogFolder);
  const breaches: string[] = [];
  for (const [version, digest] of Object.entries(catalogs)) {
    const text = await readFile(new URL(`${version}.json`, catalogFolder), 'utf8').catch(
      () => null,
    );
    if (text === null)
      breaches.push(`catalog/${version}.json is published and missing: restore it`);
    else if (fileDigest(text) !== digest) {
      breaches.push(`catalog/${version}.json is published and was changed: restore it`);
    }
  }
  const digests = new Map(checks.map(({ impl, digest }) => [impl, digest]));
  for (const [impl, digest] of Object.entries(pinned)) {
    if (digests.get(impl) === digest) continue;
    const [id] = impl.split('@');
    const what = digests.has(impl) ? 'was changed' : 'is missing';
    breaches.push(
      `${impl} is published and ${what}: restore it, then npm run check:revise -- ${id}`,
    );
  }
  return breaches;
}

function isPublished(value: unknown): value is Published {
  if (typeof value !== 'object' || value === null) return false;
  if (!('catalogs' in value) || !('checks' in value)) return false;
  return isDigests(value.catalogs) && isDigests(value.checks);
}

function isDigests(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((one) => typeof one === 'string' && DIGEST.test(one))
  );
}
