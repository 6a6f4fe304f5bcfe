/** The names of the output formats, apart from what writes them: usage needs no more. */
export const FORMAT_NAMES = [
  'text',
  'json',
  'sarif',
  'junit',
  'markdown',
  'github',
  'codequality',
] as const;

export type FormatName = (typeof FORMAT_NAMES)[number];
