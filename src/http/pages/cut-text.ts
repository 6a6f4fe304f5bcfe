const ESCAPED_BYTES = 6;
const WIDE_BYTES = 4;

/** Keeps a page small: at most so many bytes as escaped markup. The report of the API has the whole text. */
export function cutText(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > maxBytes) return `${text.slice(0, end)}…`;
    end += character.length;
  }
  return text;
}

function bytesOf(character: string): number {
  if ('<>&"\''.includes(character)) return ESCAPED_BYTES;
  return character > '\u007f' ? WIDE_BYTES : 1;
}
