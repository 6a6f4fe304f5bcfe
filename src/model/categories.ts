/** The categories of the directory (interface spec 2.3 leaves the list open). */
export const OTHER_CATEGORY = 'other';

export const CATEGORIES = [
  'communication',
  'compute',
  'data',
  'developer-tools',
  'media',
  'search',
  'social',
  'storage',
  'travel',
  OTHER_CATEGORY,
] as const;

export type DirectoryCategory = (typeof CATEGORIES)[number];
