/** Text without what must not be kept: paths and credentials of URLs, signatures, keys. */

/** But for those of files, which stand in stacks. */
const URL_TEXT = /\b(?!file:)[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()\\]+/gi;
/** Longer than a hash or a key: signatures and calldata, which holds them. */
const LONG_HEX = /0x[0-9a-fA-F]{100,}/g;

/**
 * Leaves of every URL its origin, for nodes and facilitators carry their keys in path, query or user
 * info, and of long hexadecimal text its beginning.
 */
export function redact(text: string): string {
  return text
    .replaceAll(URL_TEXT, (url) => originOf(url))
    .replaceAll(LONG_HEX, (hex) => `${hex.slice(0, 10)}(hidden)`);
}

function originOf(text: string): string {
  if (!URL.canParse(text)) return '(hidden)';
  const { protocol, host, pathname, search } = new URL(text);
  return pathname.length > 1 || search !== ''
    ? `${protocol}//${host}/(hidden)`
    : `${protocol}//${host}`;
}
