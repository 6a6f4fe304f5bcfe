/** JSON as it is parsed and stored. Numbers are finite; our own money travels as decimal strings. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** An object at the top; members that are `undefined` are dropped when stored. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };
