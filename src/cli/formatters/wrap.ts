/** Breaks a text at spaces so that no line is wider than `columns`; a longer word stays whole. */
export function wrap(
  text: string,
  columns: number,
  first: string,
  following: string,
): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(/\s+/)) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = following;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
