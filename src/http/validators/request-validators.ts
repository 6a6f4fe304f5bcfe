/** Validators of requests: compiled when a schema is written, not while the service starts. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Ajv as AjvClass, Options, ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler, FastifyServerOptions } from 'fastify';

/**
 * A value of another type is a mistake of the caller's, and an unknown member is none. All but
 * these two and `verbose`, which errors quote, is as Fastify sets it.
 */
export const AJV_OPTIONS = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  addUsedSchema: false,
  allErrors: false,
  verbose: true,
} as const satisfies Options;

const load = createRequire(import.meta.url);

type Compilers = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>;

/** In place of Fastify's own, which load ajv and a compiler of serializers. */
export const schemaCompilers: Compilers = {
  // Its type says that a schema is handed on; a route's part is.
  buildValidator: requestValidators as unknown as NonNullable<Compilers['buildValidator']>,
  // Answers are written as they are: schemas describe them, and tests hold them to it.
  buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
};

/** Finds each schema's validator by what the schema says: a changed schema is compiled at the start. */
export function requestValidators(): FastifySchemaCompiler<unknown> {
  // Written by ajv's own generator; a test holds the file to it.
  const compiled: Readonly<Record<string, ValidateFunction>> = load('./compiled.cjs');
  return ({ schema }) => compiled[validatorName(schema)] ?? compileNow(schema);
}

/** Of an export of `compiled.cjs`. */
export function validatorName(schema: unknown): string {
  return `v${createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16)}`;
}

function compileNow(schema: unknown): ValidateFunction {
  const { Ajv }: { readonly Ajv: typeof AjvClass } = load('ajv');
  return new Ajv(AJV_OPTIONS).compile(schema as object); // Fastify hands on what a route declares
}
