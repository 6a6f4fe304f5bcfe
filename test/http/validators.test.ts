/** Validators of requests are generated: `npx vitest run test/http/validators.test.ts -u` writes them. */
import { Ajv } from 'ajv';
import { default as standalone } from 'ajv/dist/standalone/index.js';
import { expect, test, vi } from 'vitest';
import { REVISIONS, type RevisionName } from '../../src/config/revision.ts';
import * as validators from '../../src/http/validators/request-validators.ts';
import { startApp } from '../fixtures/service/start-app.ts';

const { AJV_OPTIONS, validatorName } = validators;
const COMPILED = '../../src/http/validators/compiled.cjs';
const HEADER = '/** What ajv makes of the routes, see README.md: generated, not written. */';

/** What the routes of all revisions declare, by the name of the validator. */
const declared = new Map<string, object>();

vi.mock('../../src/http/validators/request-validators.ts', async (original) => {
  const actual = await original<typeof validators>();
  const compile = actual.requestValidators();
  const buildValidator = () => (route: Parameters<typeof compile>[0]) => {
    declared.set(actual.validatorName(route.schema), route.schema as object);
    return compile(route);
  };
  return { ...actual, schemaCompilers: { ...actual.schemaCompilers, buildValidator } };
});

test('every schema of a request is compiled ahead, as ajv compiles it', async () => {
  const revisions = Object.keys(REVISIONS) as RevisionName[];
  for (const revision of revisions) await (await startApp({ revision }))[Symbol.asyncDispose]();
  expect(declared.size).toBeGreaterThan(10);

  const ajv = new Ajv({ ...AJV_OPTIONS, code: { source: true, lines: true } });
  const names = [...declared.keys()].sort();
  for (const name of names) ajv.addSchema(declared.get(name) ?? {}, name);
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  await expect(`${HEADER}\n${code.trim()}\n`).toMatchFileSnapshot(COMPILED);
});

test('a schema that was changed since is compiled when it is met', () => {
  const schema = { type: 'object', required: ['url'], properties: { url: { type: 'string' } } };
  const compile = validators.requestValidators();
  const other = { ...schema, description: `not ${validatorName(schema)}` };
  const validate = compile({ schema: other, method: 'GET', url: '/', httpPart: 'querystring' });
  expect([validate({ url: 'x' }), validate({})]).toEqual([true, false]);
});
