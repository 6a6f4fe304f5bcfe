/** Numbers are finite. Money is a decimal string. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** Members that are `undefined` are dropped when stored. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** Returns undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the members of an object that somebody else wrote, or no members for any other value. */
export function readMembers(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
