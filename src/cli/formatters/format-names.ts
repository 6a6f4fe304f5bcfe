/** In a file of their own, so that the usage loads no formatter. */
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
