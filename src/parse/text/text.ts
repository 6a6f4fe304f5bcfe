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

/** One line, visible characters only, NFC, at most `maxChars` code points with the ellipsis. */
export function cleanText(text: string, maxChars: number): string {
  const read = text.slice(0, maxChars * READ_AHEAD);
  const line = read.replace(LINE_BREAKS, ' ').replace(UNSEEN, '').normalize('NFC').trim();
  const points = Array.from(line);
  if (points.length <= maxChars && read.length === text.length) return line;
  return `${points.slice(0, maxChars - 1).join('')}…`;
}

/** The same in quotation marks; what would end them early is escaped. */
export function quoteText(text: string, maxChars: number): string {
  return JSON.stringify(cleanText(text, maxChars));
}
