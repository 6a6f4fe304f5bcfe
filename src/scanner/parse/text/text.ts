/** Cleans texts of origins, so that evidence, reports and the directory can quote them. */

/** To keep n characters, only the first 8 n characters of a text are read. */
const READ_CHARS_PER_KEPT_CHAR = 8;
const BLANKS = /[\s\p{Zl}\p{Zp}]+/gu;
/**
 * Matches characters that can carry hidden text: control, format (bidi and tag characters), unpaired
 * surrogates, unassigned and private code points, and characters that render as nothing (variation selectors,
 * Hangul fillers).
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
/** Matches one invisible code point, or a blank other than U+0020. */
const ESCAPED =
  /^(?:[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs})$/u;

/** Returns one line of visible characters in NFC: at most `maxChars` code points, the ellipsis included. */
export function cleanText(text: string, maxChars: number): string {
  const start = text.slice(0, maxChars * READ_CHARS_PER_KEPT_CHAR);
  const line = start.replace(BLANKS, ' ').replace(INVISIBLE, '').normalize('NFC').trim();
  const points = Array.from(line);
  if (points.length <= maxChars && start.length === text.length) return line;
  return `${points.slice(0, maxChars - 1).join('')}…`;
}

/**
 * Escapes invisible characters: a line break becomes the two characters `\n`. A blank becomes `\u0020` at either end
 * of the text and beside another blank. Returns at most `maxChars` characters of the text, the ellipsis included.
 */
export function escapeInvisible(text: string, maxChars: number): string {
  const points = Array.from(text.slice(0, maxChars * READ_CHARS_PER_KEPT_CHAR));
  const isBlankOrEnd = (index: number) => points[index] === ' ' || points[index] === undefined;
  const isCut = points.length > maxChars;
  const shownText = points
    .slice(0, isCut ? maxChars - 1 : maxChars)
    .map((point, index) => {
      if (point !== ' ') return ESCAPED.test(point) ? toEscape(point) : point;
      return isBlankOrEnd(index - 1) || isBlankOrEnd(index + 1) ? toEscape(point) : point;
    })
    .join('');
  return isCut ? `${shownText}…` : shownText;
}

/** Quotes the text as JSON does, with the escapes of `escapeInvisible`. */
export function quoteExact(text: string, maxChars: number): string {
  return `"${escapeInvisible(text.replace(/["\\]/g, '\\$&'), maxChars)}"`;
}

function toEscape(point: string): string {
  if (point === '\n') return '\\n';
  const hex = (point.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** Returns null for a text with malformed escapes. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Cleans the text and quotes it as JSON does. */
export function quoteText(text: string, maxChars: number): string {
  return JSON.stringify(cleanText(text, maxChars));
}
