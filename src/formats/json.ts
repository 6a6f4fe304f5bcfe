/** JSON of origins: parsed once, bounded in depth and size, never trusted to have any shape. */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [member: string]: JsonValue | undefined };

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  /** `detail` is fit for evidence: "not JSON at character 12", "deeper than 64", "over 50000 nodes". */
  | { readonly ok: false; readonly detail: string };
