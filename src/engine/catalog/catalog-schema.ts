/** A catalog held to its schema: the folder's own file, so that editors and others can use it. */
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CatalogError } from '../errors.ts';

/** Throws CatalogError that names every breach of the schema in `folder`. */
export async function holdToSchema(value: unknown, version: string, folder: URL): Promise<void> {
  const schema: object = JSON.parse(await readFile(new URL('schema.json', folder), 'utf8'));
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  if (validate(value)) return;
  const errors = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  throw new CatalogError(`catalog/${version}.json breaks its schema: ${errors.join('; ')}.`);
}
