/** Text that an origin wrote, made fit to be shown: in evidence, in reports, in the directory. */

/** Whatever the limit, no more than this many characters of input are looked at for each one kept. */
const READ_AHEAD = 8;
const LINE_BREAKS = /[\s\p{Zl}\p{Zp}]+/gu;
/**
 * Control, format (bidi and tag characters among them), unpaired surrogates, unassigned and private
 * code points, and what renders as nothing (variation selectors, Hangul fillers), which can carry
 * hidden text.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
/** Of one code point: unseen, or a blank other than the usual one. */
const NOT_SHOWN =
  /^(?:[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs})$/u;

/** One line, visible characters only, NFC, at most `maxChars` code points with the ellipsis. */
export function cleanText(text: string, maxChars: number): string {
  const read = text.slice(0, maxChars * READ_AHEAD);
  const line = read.replace(LINE_BREAKS, ' ').replace(UNSEEN, '').normalize('NFC').trim();
  const points = Array.from(line);
  if (points.length <= maxChars && read.length === text.length) return line;
  return `${points.slice(0, maxChars - 1).join('')}…`;
}

/**
 * The text as it stands: what cannot be seen is written as its escape, a line break as "\\n", and a
 * blank as "\\u0020" where it begins or ends the text or follows another. At most `maxChars` code
 * points of it, then an ellipsis.
 */
export function exactText(text: string, maxChars: number): string {
  const points = Array.from(text.slice(0, maxChars * READ_AHEAD));
  const isBlank = (at: number) => points[at] === ' ' || points[at] === undefined;
  const isCut = points.length > maxChars;
  const shown = points
    .slice(0, isCut ? maxChars - 1 : maxChars)
    .map((point, at) => {
      if (point !== ' ') return NOT_SHOWN.test(point) ? escapeOf(point) : point;
      return isBlank(at - 1) || isBlank(at + 1) ? escapeOf(point) : point;
    })
    .join('');
  return isCut ? `${shown}…` : shown;
}

/** The exact text in quotation marks, as JSON writes them. */
export function quoteExact(text: string, maxChars: number): string {
  return `"${exactText(text.replace(/["\\]/g, '\\$&'), maxChars)}"`;
}

function escapeOf(point: string): string {
  if (point === '\n') return '\\n';
  const hex = (point.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** `cleanText` in quotation marks; what would end them early is escaped. */
export function quoteText(text: string, maxChars: number): string {
  return JSON.stringify(cleanText(text, maxChars));
}
