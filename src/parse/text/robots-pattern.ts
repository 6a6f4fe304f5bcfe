/** Patterns of robots.txt: `*` is any run of characters, `$` at the end is the end of the path. */

const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * Greedy, piece by piece from the left: each piece is looked for once, behind the one before, and
 * the first that is missing ends the search. So the time goes by the length of the path, however
 * many pieces a pattern has: it is matched again for every agent and every path.
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
 * One spelling for what means the same (RFC 9309, 2.2.2): unreserved characters plain, everything
 * else percent-encoded UTF-8 in upper case. `*` and `$` keep their meaning.
 */
export function normalisePattern(pattern: string): string {
  return normalise(pattern);
}

/** In a path `*` and `$` are literal: the RFC has patterns spell them %2A and %24. */
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
