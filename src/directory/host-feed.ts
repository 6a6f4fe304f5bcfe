import type { DirectoryRecord, HistoryRow } from '../store/directory.ts';
import { findFeedEvents } from './feed-events.ts';
import { DISCLAIMER } from './provenance.ts';
import { reportUrl } from './report-url.ts';

const SCANNER = 'x402 Conformance Scanner';

export type HostFeed = {
  /** Atom 1.0. */
  readonly xml: string;
  /** The newest entry's time. */
  readonly updatedAtMs: number;
};

/** The published history of a host as a feed; the same for the same history. */
export async function writeHostFeed(
  { host, firstSeenAtMs }: Pick<DirectoryRecord, 'host' | 'firstSeenAtMs'>,
  history: readonly HistoryRow[],
  siteUrl: string,
): Promise<HostFeed> {
  const events = findFeedEvents(firstSeenAtMs, history);
  const updatedAtMs = Math.max(firstSeenAtMs, ...events.map(({ atMs }) => atMs));
  const link = reportUrl(siteUrl, host);
  // Loaded with the first feed.
  const { Feed } = await import('feed');
  const feed = new Feed({
    id: tagOf(firstSeenAtMs, host, siteUrl),
    title: `${host}: x402 conformance`,
    description: DISCLAIMER,
    updated: new Date(updatedAtMs),
    generator: SCANNER,
    author: { name: SCANNER, link: siteUrl },
    link,
    feed: feedUrl(siteUrl, host),
  });
  for (const event of events) {
    const { kind, atMs, text } = event;
    const name = kind === 'first-seen' ? kind : `${kind}/${new Date(atMs).toISOString()}`;
    const id = `${tagOf(atMs, host, siteUrl)}/${name}`;
    feed.addItem({ id, title: `${host}: ${text}`, link, date: new Date(atMs), description: text });
  }
  return { xml: feed.atom1(), updatedAtMs };
}

export function feedUrl(siteUrl: string, host: string): string {
  return `${reportUrl(siteUrl, host)}/feed.atom`;
}

/** RFC 4151: by site, day and host, and so the same whenever the feed is read. */
function tagOf(atMs: number, host: string, siteUrl: string): string {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return `tag:${new URL(siteUrl).hostname},${day}:o/${encodeURIComponent(host)}`;
}
