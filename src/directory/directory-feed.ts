import type { DirectoryQuery } from '../store/context.ts';
import type { DirectoryRecord } from '../store/directory.ts';
import { type AtomFeed, PAYABILITY_TEXTS, SCANNER_NAME, toTag } from './host-feed.ts';
import { DISCLAIMER, reportUrl } from './project.ts';

/** The filters of the directory, in the order in which links name them. */
const FILTERS = ['grade', 'category', 'verified', 'payable', 'q'] as const;

/** Writes the filters of a query as the query of a URL; an empty text without filters. */
export function toFilterText(query: Partial<DirectoryQuery>): string {
  const parameters = new URLSearchParams();
  for (const name of FILTERS) {
    const value = query[name];
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

/**
 * Returns listed hosts as a feed, an entry each; its time is that of the host's first scan, and its text tells the newest
 * one. An entry has no text of an origin.
 * @param records newest host first
 */
export async function writeDirectoryFeed(
  records: readonly DirectoryRecord[],
  query: DirectoryQuery,
  siteUrl: string,
): Promise<AtomFeed> {
  const filters = toFilterText(query);
  const updatedAtMs = records[0]?.firstSeenAtMs ?? 0;
  const { Feed } = await import('feed');
  const feed = new Feed({
    id: `tag:${new URL(siteUrl).hostname},2026:directory${filters}`,
    title: 'New in the directory of x402 sellers',
    description: DISCLAIMER,
    updated: new Date(updatedAtMs),
    generator: SCANNER_NAME,
    author: { name: SCANNER_NAME, link: siteUrl },
    link: `${siteUrl}/directory${filters}`,
    feed: `${siteUrl}/directory.atom${filters}`,
  });
  for (const { host, firstSeenAtMs, grade, score, branding, payableBy } of records) {
    const payers = payableBy === undefined ? '' : `, ${PAYABILITY_TEXTS[payableBy]}`;
    const text = `grade ${grade}, score ${score}, category ${branding.category}${payers}`;
    feed.addItem({
      id: `${toTag(firstSeenAtMs, host, siteUrl)}/first-seen`,
      title: `${host}: ${text}`,
      link: reportUrl(siteUrl, host),
      date: new Date(firstSeenAtMs),
      description: text,
    });
  }
  return { xml: feed.atom1(), updatedAtMs };
}
