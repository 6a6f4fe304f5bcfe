import type { DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import { verifiedUntilMs } from '../contract/ownership.ts';
import type { FoundRecords, ListedRow, StoreContext } from './context.ts';
import { countsOf } from './grade-counts.ts';
import { hostSubstring } from './host-substring.ts';
import { lastOwnerNumber, ownersOf } from './owners.ts';
import { publishedScanFromJson } from './published-scan.ts';

export function directoryOn(context: StoreContext): DirectoryStore {
  const { tables, lists, feed } = context;
  return {
    async get(host) {
      const record = await tables.records.get(host);
      return record && ((await withOwners(context, [record]))[0] ?? null);
    },

    async gradeOf(host) {
      const record = await tables.records.get(host);
      return record && publishedScanFromJson(record.scan);
    },

    async versions() {
      const [tail, preferences] = await Promise.all([feed.tail(), lastOwnerNumber(context)]);
      return { published: String(tail?.n ?? 0), preferences: String(preferences) };
    },

    async list(query) {
      const q = hostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      return listed(context, await lists.list({ ...query, q }));
    },

    async grades() {
      const counts = await lists.grades();
      return countsOf((grade) => counts.get(grade) ?? 0);
    },

    async featured(query) {
      return listed(context, await lists.featured(query));
    },
  };
}

/** Owners are asked again after the rows were read: one may have opted out meanwhile. */
async function listed(context: StoreContext, { count, records }: FoundRecords) {
  const found = await withOwners(context, records);
  return { count, records: found.filter((record) => record.listed) };
}

/** Records as they are stored, with what their owners want and have proved. */
export async function withOwners(
  context: StoreContext,
  records: readonly ListedRow[],
): Promise<readonly DirectoryRecord[]> {
  const nowMs = context.now();
  const stateOf = await ownersOf(
    context,
    records.map((record) => record.host),
  );
  return records.map(({ host, scan, firstSeenAtMs, scanCount }) => {
    const { listed: isListed, enrichmentSuppressed, confirmedAtMs } = stateOf(host);
    const untilMs = verifiedUntilMs(confirmedAtMs, nowMs);
    return {
      ...publishedScanFromJson(scan),
      firstSeenAtMs,
      scanCount,
      verified: untilMs !== null,
      verifiedUntilMs: untilMs,
      listed: isListed,
      enrichmentSuppressed,
    };
  });
}
