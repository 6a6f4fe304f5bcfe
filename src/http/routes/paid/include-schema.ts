/** What an answer of a scan may hold beside its report; short, because clients echo challenges in a header. */
export const INCLUDE_SCHEMA = {
  type: 'array',
  items: { type: 'string', enum: ['recording'] },
  uniqueItems: true,
} as const;
