import type { DirectoryRecord, DirectoryStore } from '../store/directory.ts';

/** Rows of a page of the site. */
export const PAGE_SIZE = 30;
const PER_DOMAIN = 3;
/** Limit of store pages for one front page; a directory that is flooded by one domain gives a short page. */
const MAX_READS = 10;

export type FrontPage = { readonly count: number; readonly records: readonly DirectoryRecord[] };

/** The newest records, at most three of one registrable domain, so that wildcard names cannot fill the page. */
export async function readFrontPage(directory: DirectoryStore): Promise<FrontPage> {
  // Loaded with the first page: the module holds the list of public suffixes.
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
