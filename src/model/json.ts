/** Numbers are finite. Money is carried as decimal strings. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** Members that are `undefined` are dropped when stored. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };
