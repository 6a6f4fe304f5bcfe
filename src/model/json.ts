/** What the store keeps as opaque JSON. Numbers are finite; money travels as decimal strings. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** An object at the top; members that are `undefined` are dropped when stored. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };
