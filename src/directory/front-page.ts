/** Which records the front page shows: the newest, but no owner's wildcard name fills it. */
import type { DirectoryRecord, DirectoryStore } from '../store/contract/directory.ts';

const PAGE_SIZE = 50;
const PER_DOMAIN = 3;
/** Pages that are read to fill one: beyond it the directory is being flooded, and a short page will do. */
const MAX_READS = 10;

export type FrontPage = { readonly count: number; readonly records: readonly DirectoryRecord[] };

/** The newest records, at most three of one registrable domain; an address is a domain of its own. */
export async function readFrontPage(directory: DirectoryStore): Promise<FrontPage> {
  // Loaded with the first page: it brings the list of public suffixes.
  const { getDomain } = await import('tldts');
  const shown = new Map<string, number>();
  const records: DirectoryRecord[] = [];
  for (let page = 0; ; page += 1) {
    const query = { sort: 'recent', q: '', page, pageSize: PAGE_SIZE } as const;
    const { count, records: read } = await directory.list(query);
    for (const record of read) {
      const domain = getDomain(record.host, { allowPrivateDomains: true }) ?? record.host;
      const ofDomain = (shown.get(domain) ?? 0) + 1;
      shown.set(domain, ofDomain);
      if (ofDomain <= PER_DOMAIN && records.length < PAGE_SIZE) records.push(record);
    }
    const isAll = (page + 1) * PAGE_SIZE >= count;
    if (records.length === PAGE_SIZE || isAll || page + 1 === MAX_READS) return { count, records };
  }
}
