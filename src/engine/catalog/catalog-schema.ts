import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CatalogError } from '../errors.ts';

/** Uses the schema file in `folder`, which editors read too. Throws CatalogError with every breach. */
export async function holdToSchema(value: unknown, version: string, folder: URL): Promise<void> {
  const schema: object = JSON.parse(await readFile(new URL('schema.json', folder), 'utf8'));
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  if (validate(value)) return;
  const errors = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  throw new CatalogError(`catalog/${version}.json breaks its schema: ${errors.join('; ')}.`);
}
