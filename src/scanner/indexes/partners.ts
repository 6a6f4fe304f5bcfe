/** The public list of partners at x402.org, which has taken no new partners since 2026-05-14. */
import { parse } from 'tldts';
import type { Origin } from '../guard/origin.ts';
import type { ListingFacts } from '../model/observations.ts';
import { askOk, type RequestContext, type SourceAnswer, toFailure } from './ask.ts';
import { type Partner, toIndexParser } from './index-answers.ts';

const LISTING_PATH = '/ecosystem';

/** `base` is the URL of the site, or of the page or document that has the list. */
export async function askPartners(
  base: string,
  context: RequestContext,
): Promise<SourceAnswer<readonly Partner[]>> {
  const url = new URL(base).pathname === '/' ? new URL(LISTING_PATH, base).href : base;
  const parser = toIndexParser('readPartners');
  const page = await askOk(url, { ...context, parser, detail: null });
  // If the answer has no partner, the format of the page has changed.
  return page.ok && page.value.length === 0
    ? toFailure(`${new URL(base).host} shows no partner records`)
    : page;
}

/** Finds the origin's partner record by registrable domain. */
export function findPartner(origin: Origin, partners: readonly Partner[]): ListingFacts {
  const ownSite = toSite(origin.hostname);
  const partner = partners.find(
    ({ website }) => URL.canParse(website) && toSite(new URL(website).hostname) === ownSite,
  );
  return {
    listed: partner !== undefined,
    name: partner?.name ?? null,
    website: partner?.website ?? null,
  };
}

/** Returns the registrable domain; the whole name on shared suffixes such as "vercel.app", whose tenants are unrelated. */
function toSite(hostname: string): string {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const { domain, isPrivate } = parse(bare, { allowPrivateDomains: true });
  return isPrivate === true ? bare : (domain ?? bare);
}
