/** What is shown of an origin whose surfaces were not read: apart from what reads them. */
import { OTHER_CATEGORY } from '../model/categories.ts';
import type { Branding } from '../model/scan-outcome.ts';

/** What is shown of an origin whose surfaces could not be read, or are shown nowhere. */
export function plainBranding(host: string): Branding {
  return {
    displayName: host,
    description: '',
    category: OTHER_CATEGORY,
    iconUrl: null,
    ogImageUrl: null,
  };
}
