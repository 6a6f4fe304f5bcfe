import { readFileSync } from 'node:fs';
import { CATALOG_FOLDER, type Catalog } from '../../src/engine/catalog.ts';

/** A published catalog as it stands in the repository, without a look at the checks it names. */
export function readCatalog(version: string): Catalog {
  const text = readFileSync(new URL(`${version}.json`, CATALOG_FOLDER), 'utf8');
  return JSON.parse(text) as Catalog; // `loadCatalog` has tests of its own
}
