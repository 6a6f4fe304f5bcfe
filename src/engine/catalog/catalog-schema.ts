/** A catalog held to its schema: the folder's own file, so that editors and others can use it. */
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CatalogError } from '../errors.ts';
import type { Catalog } from './catalog.ts';

/** Throws CatalogError naming everything that is wrong with it. */
export async function parseCatalog(value: unknown, version: string, folder: URL): Promise<Catalog> {
  const schema: object = JSON.parse(await readFile(new URL('schema.json', folder), 'utf8'));
  const validate = new Ajv2020({ allErrors: true }).compile<Catalog>(schema);
  if (validate(value)) return value;
  const errors = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  throw new CatalogError(`catalog/${version}.json breaks its schema: ${errors.join('; ')}.`);
}
