/** Owners' preferences, put on records as they are read. */
import type { Filter } from 'mongodb';
import type { DirectoryRecord } from '../contract/directory.ts';
import type { ListingSettings } from '../contract/listing.ts';
import { verifiedSinceMs, verifiedUntilMs } from '../contract/ownership.ts';
import { publishedScanFromJson } from '../shared/published-scan.ts';
import type { MongoContext } from './context.ts';
import type { RecordDocument } from './documents.ts';
import { type Document, idOf, type Table } from './table.ts';

const SETTINGS = ['listed', 'enrichmentSuppressed'] as const;
/** Of one host: its record, each setting, its proof. */
const LOOK_UPS_AT_ONCE = 2;

/** Hosts whose owners opted out. Read anew each time: an opt-out holds at once, on every host. */
export async function optedOutHosts({ listing }: MongoContext): Promise<readonly string[]> {
  const projection = { host: 1 };
  const rows = await listing.all({ setting: 'listed', value: false }, { projection });
  return rows.map((row) => row.host);
}

export async function verifiedHosts({ confirms, now }: MongoContext): Promise<readonly string[]> {
  const recent = { atMs: { $gt: verifiedSinceMs(now()) } };
  const rows = await confirms.all(recent, { projection: { _id: 1 } });
  return rows.map((row) => row._id);
}

export async function listingOf(
  { listing }: MongoContext,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, ListingSettings>> {
  const ids = hosts.flatMap((host) => SETTINGS.map((setting) => idOf(setting, host)));
  const rows = await byIds(listing, ids);
  const settings = new Map<string, ListingSettings>();
  for (const { host, setting, value } of rows) {
    const known = settings.get(host) ?? { listed: true, enrichmentSuppressed: false };
    settings.set(host, { ...known, [setting]: value });
  }
  return settings;
}

/** A few by key alone: servers that merely speak MongoDB's protocol read all rows for a list of keys. */
async function byIds<T extends Document>(table: Table<T>, ids: readonly T['_id'][]) {
  if (ids.length > LOOK_UPS_AT_ONCE) {
    return table.all({ _id: { $in: [...ids] } } as Filter<T>);
  }
  const rows = await Promise.all(ids.map((id) => table.byId(id)));
  return rows.filter((row) => row !== null);
}

/** Records as they are stored, with what their owners want and have proved. */
export async function withOwnerPreferences(
  context: MongoContext,
  records: readonly RecordDocument[],
): Promise<readonly DirectoryRecord[]> {
  if (records.length === 0) return [];
  const hosts = records.map((record) => record._id);
  const nowMs = context.now();
  const [settings, confirms] = await Promise.all([
    listingOf(context, hosts),
    byIds(context.confirms, hosts),
  ]);
  const confirmed = new Map(confirms.map((confirm) => [confirm._id, confirm.atMs]));
  return records.map(({ _id: host, scan, firstSeenAtMs, scanCount }) => {
    const untilMs = verifiedUntilMs(confirmed.get(host) ?? null, nowMs);
    return {
      ...publishedScanFromJson(scan),
      firstSeenAtMs,
      scanCount,
      verified: untilMs !== null,
      verifiedUntilMs: untilMs,
      listed: settings.get(host)?.listed ?? true,
      enrichmentSuppressed: settings.get(host)?.enrichmentSuppressed ?? false,
    };
  });
}
