/**
 * JSON schemas as typebox makes them, and with its types. Its 370 modules, which a start would wait
 * for, are needed for neither: a test holds each term to them.
 */
import type { Static, TSchema, Type as Typebox } from 'typebox';

export type { Static, TSchema };

const OPTIONAL: unique symbol = Symbol('optional');

type Schema = { readonly [OPTIONAL]?: true; readonly [keyword: string]: unknown };

const TERMS = {
  String: (options: object = {}): Schema => ({ type: 'string', ...options }),
  Number: (options: object = {}): Schema => ({ type: 'number', ...options }),
  Integer: (options: object = {}): Schema => ({ type: 'integer', ...options }),
  Boolean: (options: object = {}): Schema => ({ type: 'boolean', ...options }),
  Null: (options: object = {}): Schema => ({ type: 'null', ...options }),
  Unknown: (options: object = {}): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => schema,
  Literal: (value: string | number | boolean, options: object = {}): Schema => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Union: (anyOf: readonly Schema[], options: object = {}): Schema => ({ anyOf, ...options }),
  Array: (items: Schema, options: object = {}): Schema => ({ type: 'array', items, ...options }),
  Tuple: (items: readonly Schema[]): Schema => ({
    type: 'array',
    additionalItems: false,
    items,
    minItems: items.length,
  }),
  // Hidden, as theirs: what is spread into another schema is as required as that one.
  Optional: (schema: Schema): Schema =>
    Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Object(properties: Readonly<Record<string, Schema>>, options: object = {}): Schema {
    const required = Object.keys(properties).filter((name) => !properties[name]?.[OPTIONAL]);
    return {
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties,
      ...options,
    };
  },
};

/** Makes what typebox makes, as JSON. */
export const Type = TERMS as unknown as Pick<typeof Typebox, keyof typeof TERMS>;
