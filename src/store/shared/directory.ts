import type { Grade } from '../../model/report.ts';
import type { DirectoryRecord, DirectoryStore } from '../contract/directory.ts';
import { verifiedUntilMs } from '../contract/ownership.ts';
import { lastChange } from './announce.ts';
import type { StoreContext } from './context.ts';
import { findOwners, lastOwnerNumber } from './owners.ts';
import { publishedScanFromJson } from './published-scan.ts';
import type { Row } from './tables.ts';

/** Canonical hosts, with their ports, are made of these. */
const HOST_CHARACTERS = /^[a-z0-9._:[\]-]*$/;

export function directoryOn(context: StoreContext): DirectoryStore {
  const { tables, lists } = context;
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
      const [last, preferences] = await Promise.all([
        lastChange(context),
        lastOwnerNumber(context),
      ]);
      return { published: String(last?.n ?? 0), preferences: String(preferences) };
    },

    async list(query) {
      const q = hostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const { count, hosts } = await lists.list({ ...query, q });
      return { count, records: await readListed(context, hosts) };
    },

    async grades() {
      const counted = await lists.grades();
      const count = (grade: Grade) => counted.get(grade) ?? 0;
      return { A: count('A'), B: count('B'), C: count('C'), D: count('D'), F: count('F') };
    },
  };
}

/** Reads the records of these hosts in their order, without those whose owner has opted out since the hosts were read. */
export async function readListed(
  context: StoreContext,
  hosts: readonly string[],
): Promise<readonly DirectoryRecord[]> {
  const rows = await context.tables.records.all({ host: { in: hosts } });
  const byHost = new Map(rows.map((row) => [row.host, row]));
  const inOrder = hosts.map((host) => byHost.get(host)).filter((row) => row !== undefined);
  return (await withOwners(context, inOrder)).filter((record) => record.listed);
}

/** Returns the substring in lower case; null when no host can contain it. The empty text matches every host. */
function hostSubstring(q: string): string | null {
  const lower = q.toLowerCase();
  return HOST_CHARACTERS.test(lower) ? lower : null;
}

/** Records with the state of their owners. */
async function withOwners(
  context: StoreContext,
  records: readonly Row<'records'>[],
): Promise<readonly DirectoryRecord[]> {
  const nowMs = context.now();
  const stateOf = await findOwners(
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
