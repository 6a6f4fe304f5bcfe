import type { PayableState } from '../model/payability.ts';
import type { DirectoryRecord, HistoryRow } from '../store/directory.ts';
import { DISCLAIMER, reportUrl } from './project.ts';

export const SCANNER_NAME = 'x402 Conformance Scanner';

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
  const link = reportUrl(siteUrl, host);
  const { Feed } = await import('feed');
  const feed = new Feed({
    id: toTag(firstSeenAtMs, host, siteUrl),
    title: `${host}: x402 conformance`,
    description: DISCLAIMER,
    updated: new Date(updatedAtMs),
    generator: SCANNER_NAME,
    author: { name: SCANNER_NAME, link: siteUrl },
    link,
    feed: feedUrl(siteUrl, host),
  });
  for (const event of events) {
    const { kind, atMs, text } = event;
    const idSuffix = kind === 'first-seen' ? kind : `${kind}/${new Date(atMs).toISOString()}`;
    const id = `${toTag(atMs, host, siteUrl)}/${idSuffix}`;
    feed.addItem({ id, title: `${host}: ${text}`, link, date: new Date(atMs), description: text });
  }
  return { xml: feed.atom1(), updatedAtMs };
}

export function feedUrl(siteUrl: string, host: string): string {
  return `${reportUrl(siteUrl, host)}/feed.atom`;
}

/** Returns a tag URI (RFC 4151) of site, day and host. The tag stays the same each time the feed is read. */
export function toTag(atMs: number, host: string, siteUrl: string): string {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return `tag:${new URL(siteUrl).hostname},${day}:o/${encodeURIComponent(host)}`;
}

/** A feed has only the newest events. */
export const MAX_FEED_ENTRIES = 50;

export type FeedEvent = {
  /** `rules`: the census found another grade by another catalog or program, which says nothing new about the origin. */
  readonly kind: 'first-seen' | 'grade' | 'rules' | 'payability';
  /** Start of the scan that showed the event. */
  readonly atMs: number;
  /** Plain text, without text of the origin. */
  readonly text: string;
};

export const PAYABILITY_TEXTS: Readonly<Record<PayableState, string>> = {
  default: 'default clients can pay',
  settings: 'clients can pay once their settings allow it',
  unknown: 'not known who can pay',
  nobody: 'no client can pay',
  noChallenge: 'no payment challenge was seen',
};

/**
 * Finds the changes between a host's published scans, newest first.
 * @param history oldest first; may lack the oldest scans of a host
 */
export function findFeedEvents(
  firstSeenAtMs: number,
  history: readonly HistoryRow[],
): readonly FeedEvent[] {
  const [firstRow] = history;
  const events: FeedEvent[] = [
    { kind: 'first-seen', atMs: firstSeenAtMs, text: toFirstText(firstSeenAtMs, firstRow) },
  ];
  let oldGrade = firstRow?.grade;
  let oldPayableBy = firstRow?.payableBy;
  for (const [index, row] of history.slice(1).entries()) {
    const { scannedAtMs: atMs, grade, score, checksVersion, payableBy } = row;
    const hasNewRules = hasOtherRules(history[index], row);
    if (grade !== oldGrade) {
      const text = `grade ${oldGrade} → ${grade}, score ${score}, checks ${checksVersion}`;
      if (hasNewRules) events.push({ kind: 'rules', atMs, text: `rules changed: ${text}` });
      else events.push({ kind: 'grade', atMs, text });
    }
    // Rows of older releases have no `payableBy` to compare.
    if (!hasNewRules && payableBy && oldPayableBy && payableBy !== oldPayableBy) {
      const text = `${PAYABILITY_TEXTS[oldPayableBy]} → ${PAYABILITY_TEXTS[payableBy]}`;
      events.push({ kind: 'payability', atMs, text });
    }
    oldGrade = grade;
    oldPayableBy = payableBy ?? oldPayableBy;
  }
  return events.reverse().slice(0, MAX_FEED_ENTRIES);
}

/** True for a scan of the census by another catalog or program than the scan before. */
function hasOtherRules(before: HistoryRow | undefined, row: HistoryRow): boolean {
  const isSame =
    before?.checksVersion === row.checksVersion && before.scannerVersion === row.scannerVersion;
  return row.paidBy === 'census' && !isSame;
}

function toFirstText(firstSeenAtMs: number, firstRow: HistoryRow | undefined): string {
  if (firstRow?.scannedAtMs !== firstSeenAtMs) return 'first scan';
  const { grade, score, payableBy } = firstRow;
  const payers = payableBy === undefined ? '' : `, ${PAYABILITY_TEXTS[payableBy]}`;
  return `first scan: grade ${grade}, score ${score}${payers}`;
}
