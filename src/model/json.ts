/** Numbers are finite. Money is carried as decimal strings. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** Members that are `undefined` are dropped when stored. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** The members of an object that somebody else wrote; none of any other value. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
