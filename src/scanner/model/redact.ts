/** File URLs are excluded, because stack traces need them. */
const URL_TEXT = /\b(?!file:)[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()\\]+/gi;
/** Matches text longer than a hash or a key, such as a signature, and calldata with a signature. */
const LONG_HEX = /0x[0-9a-fA-F]{100,}/g;

/**
 * Reduces every URL to its origin, because nodes and facilitators carry API keys in path, query or user
 * info, and shortens long hexadecimal text.
 */
export function redact(text: string): string {
  return text
    .replaceAll(URL_TEXT, (url) => hideUrlPath(url))
    .replaceAll(LONG_HEX, (hex) => `${hex.slice(0, 10)}(hidden)`);
}

function hideUrlPath(text: string): string {
  if (!URL.canParse(text)) return '(hidden)';
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname.length > 1 || search !== '' ? '/(hidden)' : ''}`;
}

/** The message of an error; any other thrown value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error that an operator can mend. A command prints its message, which is one line, and no stack. */
export class OperatorError extends Error {}
