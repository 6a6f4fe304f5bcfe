/** Matches partner records by registrable domain, or by exact host on shared suffixes. */
import { parse } from 'tldts';
import type { Origin } from '../guard/origin.ts';
import type { ListingFacts } from '../model/observations.ts';
import type { Partner } from './index-answers.ts';

export function findPartner(origin: Origin, partners: readonly Partner[]): ListingFacts {
  const own = toSite(origin.hostname);
  const partner = partners.find(
    ({ website }) => URL.canParse(website) && toSite(new URL(website).hostname) === own,
  );
  return {
    listed: partner !== undefined,
    name: partner?.name ?? null,
    website: partner?.website ?? null,
  };
}

/** Private suffixes count ("vercel.app"), because tenants there are unrelated. */
function toSite(hostname: string): string {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const { domain, isPrivate } = parse(bare, { allowPrivateDomains: true });
  return isPrivate === true ? bare : (domain ?? bare);
}
