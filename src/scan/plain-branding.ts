import { type Branding, OTHER_CATEGORY } from '../model/report.ts';

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
