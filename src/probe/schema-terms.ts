/**
 * JSON schemas of recordings, as typebox makes them, whose 370 modules a replay would wait for. A
 * test holds the terms to typebox.
 */
const OPTIONAL: unique symbol = Symbol('optional');

export type Schema = { readonly [OPTIONAL]?: true; readonly [keyword: string]: unknown };

export const Type = {
  String: (options: object = {}): Schema => ({ type: 'string', ...options }),
  Number: (options: object = {}): Schema => ({ type: 'number', ...options }),
  Integer: (options: object = {}): Schema => ({ type: 'integer', ...options }),
  Boolean: (): Schema => ({ type: 'boolean' }),
  Null: (): Schema => ({ type: 'null' }),
  Literal: (value: string | number | boolean): Schema => ({ type: typeof value, const: value }),
  Union: (anyOf: readonly Schema[]): Schema => ({ anyOf }),
  Array: (items: Schema, options: object = {}): Schema => ({ type: 'array', items, ...options }),
  Tuple: (items: readonly Schema[]): Schema => ({
    type: 'array',
    additionalItems: false,
    items,
    minItems: items.length,
  }),
  Optional: (schema: Schema): Schema => ({ ...schema, [OPTIONAL]: true }),
  Object(properties: Readonly<Record<string, Schema>>): Schema {
    const required = Object.keys(properties).filter((name) => !properties[name]?.[OPTIONAL]);
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties };
  },
};
