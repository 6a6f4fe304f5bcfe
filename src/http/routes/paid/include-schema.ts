/** Parts that a caller may ask for beside the report. Short, because clients echo challenges in a header. */
export const INCLUDE_SCHEMA = {
  type: 'array',
  items: { type: 'string', enum: ['recording'] },
  uniqueItems: true,
} as const;
