const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * `*` matches any characters, a final `$` the end of the path. Each piece is searched once, after the
 * previous one, and the first missing piece ends the search. Time is linear in the path, however many
 * pieces a pattern has, because it is matched for every agent and path.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const end = isAnchored ? pattern.length - 1 : pattern.length;
  let star = pattern.indexOf('*');
  const first = pattern.slice(0, star === -1 ? end : star);
  if (!path.startsWith(first)) return false;
  if (star === -1) return !isAnchored || path.length === first.length;

  let at = first.length;
  for (;;) {
    const next = pattern.indexOf('*', star + 1);
    if (next === -1) break;
    const piece = pattern.slice(star + 1, next);
    const found = path.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
    star = next;
  }
  const last = pattern.slice(star + 1, end);
  if (!isAnchored) return path.indexOf(last, at) !== -1;
  return path.length - last.length >= at && path.endsWith(last);
}

/**
 * Normalises equivalent spellings (RFC 9309, 2.2.2): unreserved characters plain, all others
 * percent-encoded UTF-8 in upper case. `*` and `$` keep their meaning.
 */
export function normalisePattern(pattern: string): string {
  return normalise(pattern);
}

/** A path's own `*` and `$` are literal: RFC 9309 has patterns spell them %2A and %24. */
export function normalisePath(path: string): string {
  return normalise(path).replaceAll('*', '%2A').replaceAll('$', '%24');
}

function normalise(text: string): string {
  return text
    .replace(/%[0-9a-fA-F]{2}/g, (code) => plainOrUpper(code))
    .replace(/[^\u0021-\u007e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

function plainOrUpper(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return UNRESERVED.test(character) ? character : code.toUpperCase();
}
