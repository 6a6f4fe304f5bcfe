import { OTHER_CATEGORY } from '../model/categories.ts';
import type { Branding } from '../model/scan-outcome.ts';

/** Branding for an origin whose surfaces could not be read, or are not shown. */
export function plainBranding(host: string): Branding {
  return {
    displayName: host,
    description: '',
    category: OTHER_CATEGORY,
    iconUrl: null,
    ogImageUrl: null,
  };
}
