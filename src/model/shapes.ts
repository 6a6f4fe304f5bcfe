/** Parts of schemas. No file that every command loads may import them, because typebox loads slowly. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';

export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export function list<T extends TSchema>(item: T) {
  return Type.Unsafe<readonly Static<T>[]>(Type.Array(item));
}

export function shape<P extends TProperties>(members: P) {
  return Type.Unsafe<Readonly<Static<ReturnType<typeof Type.Object<P>>>>>(Type.Object(members));
}

/** `documented` has schema members that only published documents have; `plugins/openapi.ts` adds them. */
export function oneOf<T extends string>(
  values: readonly T[],
  description?: string,
  documented?: object,
) {
  const described = { ...(description && { description }), ...(documented && { documented }) };
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...described });
}
