/** Cleans text that an origin wrote for evidence, reports and the directory. */

/** Input characters read per character kept, whatever the limit. */
const READ_AHEAD = 8;
const LINE_BREAKS = /[\s\p{Zl}\p{Zp}]+/gu;
/**
 * Matches characters that can carry hidden text: control, format (bidi and tag characters), unpaired
 * surrogates, unassigned and private code points, and those that render as nothing (variation selectors,
 * Hangul fillers).
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
/** Matches one code point that is unseen, or a blank other than U+0020. */
const NOT_SHOWN =
  /^(?:[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs})$/u;

/** Returns one line of visible characters in NFC, at most `maxChars` code points with the ellipsis. */
export function cleanText(text: string, maxChars: number): string {
  const read = text.slice(0, maxChars * READ_AHEAD);
  const line = read.replace(LINE_BREAKS, ' ').replace(UNSEEN, '').normalize('NFC').trim();
  const points = Array.from(line);
  if (points.length <= maxChars && read.length === text.length) return line;
  return `${points.slice(0, maxChars - 1).join('')}…`;
}

/**
 * Keeps the text and escapes characters that cannot be seen: a line break as "\\n", and a blank as
 * "\\u0020" at either end or after another. At most `maxChars` code points, then an ellipsis.
 */
export function exactText(text: string, maxChars: number): string {
  const points = Array.from(text.slice(0, maxChars * READ_AHEAD));
  const isBlank = (at: number) => points[at] === ' ' || points[at] === undefined;
  const isCut = points.length > maxChars;
  const shown = points
    .slice(0, isCut ? maxChars - 1 : maxChars)
    .map((point, at) => {
      if (point !== ' ') return NOT_SHOWN.test(point) ? toEscape(point) : point;
      return isBlank(at - 1) || isBlank(at + 1) ? toEscape(point) : point;
    })
    .join('');
  return isCut ? `${shown}…` : shown;
}

/** Quotes the exact text by JSON's rules. */
export function quoteExact(text: string, maxChars: number): string {
  return `"${exactText(text.replace(/["\\]/g, '\\$&'), maxChars)}"`;
}

function toEscape(point: string): string {
  if (point === '\n') return '\\n';
  const hex = (point.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** Quotes `cleanText`; quotation marks in it are escaped. */
export function quoteText(text: string, maxChars: number): string {
  return JSON.stringify(cleanText(text, maxChars));
}
