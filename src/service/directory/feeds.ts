import type { FeedOptions, Item } from 'feed';
import type { PayableState } from '../../scanner/model/payability.ts';
import type { DirectoryQuery } from '../store/context.ts';
import type { DirectoryRecord, HistoryRow } from '../store/directory.ts';
import { DISCLAIMER, toReportUrl } from './project.ts';

const SCANNER_NAME = 'x402 Conformance Scanner';

/** An Atom 1.0 document, and the time of its newest entry. */
export type AtomFeed = { readonly xml: string; readonly updatedAtMs: number };

/** Returns the published history of a host as a feed. The same history always gives the same feed. */
export async function writeHostFeed(
  { host, firstSeenAtMs }: Pick<DirectoryRecord, 'host' | 'firstSeenAtMs'>,
  history: readonly HistoryRow[],
  siteUrl: string,
): Promise<AtomFeed> {
  const events = findFeedEvents(firstSeenAtMs, history);
  const updatedAtMs = Math.max(firstSeenAtMs, ...events.map(({ atMs }) => atMs));
  const link = toReportUrl(siteUrl, host);
  const items = events.map((event) => {
    const { kind, atMs, text } = event;
    const idSuffix = kind === 'first-seen' ? kind : `${kind}/${new Date(atMs).toISOString()}`;
    const id = `${toTag(firstSeenAtMs, host, siteUrl)}/${idSuffix}`;
    return { id, title: `${host}: ${text}`, link, date: new Date(atMs), description: text };
  });
  const head = {
    id: toTag(firstSeenAtMs, host, siteUrl),
    title: `${host}: x402 conformance`,
    link,
    feed: toFeedUrl(siteUrl, host),
  };
  return writeAtom(head, siteUrl, updatedAtMs, items);
}

export function toFeedUrl(siteUrl: string, host: string): string {
  return `${toReportUrl(siteUrl, host)}/feed.atom`;
}

/** Returns a tag URI (RFC 4151) of site, day and host. The tag stays the same each time the feed is read. */
function toTag(atMs: number, host: string, siteUrl: string): string {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return `tag:${new URL(siteUrl).hostname},${day}:o/${encodeURIComponent(host)}`;
}

export const MAX_FEED_ENTRIES = 50;

type FeedEvent = {
  /** `rules`: another catalog or program gave the grade of this scan, so it says nothing new about the origin. */
  readonly kind: 'first-seen' | 'grade' | 'rules' | 'payability';
  /** Start of the scan that showed the event. */
  readonly atMs: number;
  /** Plain text, without text of the origin. */
  readonly text: string;
};

const PAYABILITY_TEXTS: Readonly<Record<PayableState, string>> = {
  default: 'default clients can pay',
  settings: 'clients can pay once their settings allow it',
  unknown: 'not known who can pay',
  nobody: 'no client can pay',
  noChallenge: 'no payment challenge was seen',
};

/** The newest change comes first. `history` begins with the oldest row, and may lack the oldest scans of a host. */
export function findFeedEvents(
  firstSeenAtMs: number,
  history: readonly HistoryRow[],
): readonly FeedEvent[] {
  const [firstRow] = history;
  const events: FeedEvent[] = [
    { kind: 'first-seen', atMs: firstSeenAtMs, text: toFirstText(firstSeenAtMs, firstRow) },
  ];
  for (const [index, row] of history.entries()) {
    const before = history[index - 1];
    if (before === undefined) continue;
    const { scannedAtMs: atMs, grade, score, checksVersion, payableBy } = row;
    const hasNewRules = hasOtherRules(before, row);
    if (grade !== before.grade) {
      const text = `grade ${before.grade} → ${grade}, score ${score}, checks ${checksVersion}`;
      if (hasNewRules) events.push({ kind: 'rules', atMs, text: `rules changed: ${text}` });
      else events.push({ kind: 'grade', atMs, text });
    }
    if (!hasNewRules && payableBy !== before.payableBy) {
      const text = `${PAYABILITY_TEXTS[before.payableBy]} → ${PAYABILITY_TEXTS[payableBy]}`;
      events.push({ kind: 'payability', atMs, text });
    }
  }
  return events.reverse().slice(0, MAX_FEED_ENTRIES);
}

/**
 * True for a scan of the census by other rules than the scan before, as in `rules_changed` of the list of changes. The
 * census scans without an order, also after each change of our rules. A scan that somebody ordered is always news.
 */
function hasOtherRules(before: HistoryRow, row: HistoryRow): boolean {
  const isSame =
    before.checksVersion === row.checksVersion && before.scannerVersion === row.scannerVersion;
  return row.paidBy === 'census' && !isSame;
}

function toFirstText(firstSeenAtMs: number, firstRow: HistoryRow | undefined): string {
  if (firstRow?.scannedAtMs !== firstSeenAtMs) return 'first scan';
  const { grade, score, payableBy } = firstRow;
  return `first scan: grade ${grade}, score ${score}, ${PAYABILITY_TEXTS[payableBy]}`;
}

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
 * Returns a feed with one entry for each listed host. The time of an entry is that of the host's first scan, and its
 * text describes the newest scan. An entry has no text of an origin.
 * @param records newest host first
 */
export async function writeDirectoryFeed(
  records: readonly DirectoryRecord[],
  query: DirectoryQuery,
  siteUrl: string,
): Promise<AtomFeed> {
  const filters = toFilterText(query);
  const updatedAtMs = records[0]?.firstSeenAtMs ?? 0;
  const head = {
    id: `tag:${new URL(siteUrl).hostname},2026:directory${filters}`,
    title: 'New in the directory of x402 sellers',
    link: `${siteUrl}/directory${filters}`,
    feed: `${siteUrl}/directory.atom${filters}`,
  };
  const items = records.map(({ host, firstSeenAtMs, grade, score, branding, payableBy }) => {
    const payers = PAYABILITY_TEXTS[payableBy];
    const text = `grade ${grade}, score ${score}, category ${branding.category}, ${payers}`;
    return {
      id: `${toTag(firstSeenAtMs, host, siteUrl)}/first-seen`,
      title: `${host}: ${text}`,
      link: toReportUrl(siteUrl, host),
      date: new Date(firstSeenAtMs),
      description: text,
    };
  });
  return writeAtom(head, siteUrl, updatedAtMs, items);
}

async function writeAtom(
  head: Pick<FeedOptions, 'id' | 'title' | 'link' | 'feed'>,
  siteUrl: string,
  updatedAtMs: number,
  items: readonly Item[],
): Promise<AtomFeed> {
  const { Feed } = await import('feed');
  const feed = new Feed({
    ...head,
    description: DISCLAIMER,
    updated: new Date(updatedAtMs),
    generator: SCANNER_NAME,
    author: { name: SCANNER_NAME, link: siteUrl },
  });
  for (const item of items) feed.addItem(item);
  return { xml: feed.atom1(), updatedAtMs };
}
