/** What is shown of an origin whose surfaces could not be read: apart from what reads them. */
import { OTHER_CATEGORY } from '../model/categories.ts';
import type { Branding } from '../model/scan-outcome.ts';

/** What is shown of an origin whose surfaces could not be read. */
export function plainBranding(host: string): Branding {
  return {
    displayName: host,
    description: '',
    category: OTHER_CATEGORY,
    iconUrl: null,
    ogImageUrl: null,
  };
}
