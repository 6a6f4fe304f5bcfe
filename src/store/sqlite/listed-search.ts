/** Listed hosts by category, proof and a part of the host: how many, and one page of them. */
import type { DirectoryQuery } from '../contract/directory.ts';
import { verifiedSinceMs } from '../contract/ownership.ts';
import { publishedScanFromJson } from '../shared/published-scan.ts';
import type { SqliteContext } from './context.ts';
import { countListed } from './listed-counts.ts';
import { type ListedOrder, listedOrder } from './listed-order.ts';
import { type PageRange, pageOfMatches, type Reach, reachOf } from './listed-pages.ts';
import { recordsOfIds, recordsOfPage } from './listed-records.ts';
import { mapWhereLarge } from './map-large-file.ts';
import { fewCandidates, knownRunOf, matchesAmong } from './rare-matches.ts';
import type { Row } from './row.ts';
import { ALL_LISTED, countNgram } from './run-counts.ts';

export type FoundRecords = {
  readonly count: number;
  /** For `toDirectoryRecord`, in the order that was asked for. */
  readonly rows: readonly Row[];
};

type Filter = Pick<DirectoryQuery, 'sort' | 'category' | 'verified'>;

/** Of the hosts that are always looked at, so many times more are where a walk would take longer. */
const LOOKED_AT_ONCE = 4;

/** @param q as hosts are spelt; empty: all */
export async function findListed(
  context: SqliteContext,
  filter: Filter,
  q: string,
  range: PageRange,
): Promise<FoundRecords> {
  const { connection, now, search } = context;
  const nowMs = now();
  const order = listedOrder(filter, nowMs);
  const counted = { category: filter.category, proved: filter.verified === true };
  if (q === '') {
    const expired = countExpired(context, filter, q, nowMs);
    const count = countListed(connection, counted) - expired;
    mapWhereLarge(connection, count);
    // No host is in these lists or leaves them but by a change, or because its proof has expired.
    const name = `${filter.sort} ${filter.category ?? ''} ${counted.proved} ${expired}`;
    return { count, rows: pageOf(context, order, name, reachOf(range, count)) };
  }
  const { isCounted, rareRun } = knownRunOf(context, q);
  const few = rareRun === null ? null : fewCandidates(context, q, rareRun, search.candidates);
  if (few !== null) return pageAmong(context, few, order, q, range);
  const everProved = isCounted
    ? countNgram(connection, q, counted)
    : await context.substringCounts.count({ ...counted, q });
  const count = everProved - countExpired(context, filter, q, nowMs);
  const reach = reachOf(range, count);
  const hosts = isCounted ? countNgram(connection, q, ALL_LISTED) : Number.POSITIVE_INFINITY;
  const isMany = hosts > search.candidates * LOOKED_AT_ONCE;
  const walk = walkOf(reach, { count, among: countListed(connection, counted) });
  const lookUp = isMany ? Number.POSITIVE_INFINITY : hosts * search.lookCost;
  const ids =
    lookUp < walk.expected
      ? null
      : await pageOfMatches(context, order, q, reach, lookUp < walk.longest ? walk.patient : null);
  if (ids !== null) return { count, rows: recordsOfIds(connection, ids) };
  const candidates = fewCandidates(context, q, q, hosts);
  if (candidates !== null) return pageAmong(context, candidates, order, q, range);
  const walked = await pageOfMatches(context, order, q, reach, null);
  return { count, rows: recordsOfIds(connection, walked ?? []) };
}

/** Looks at all candidates, and sorts them. */
function pageAmong(
  { connection }: SqliteContext,
  candidates: string,
  order: ListedOrder,
  q: string,
  { offset, size }: PageRange,
): FoundRecords {
  const ids = matchesAmong(connection, candidates, order, q);
  return { count: ids.length, rows: recordsOfIds(connection, ids.slice(offset, offset + size)) };
}

/**
 * How many hosts a walk passes: where matches are spread evenly, at the worst, and until it is plain that they
 * are not, as names that were given in a row are often scanned in a row.
 */
function walkOf(
  { skip, take }: Reach,
  { count, among }: { readonly count: number; readonly among: number },
) {
  const expected = count === 0 ? 0 : ((skip + take) * among) / count;
  return { expected, longest: among, patient: 4 * expected };
}

/** Begins where the page before ended, if that is known. */
function pageOf(
  { connection, pageEnds }: Pick<SqliteContext, 'connection' | 'pageEnds'>,
  order: ListedOrder,
  name: string,
  reach: Reach,
): readonly Row[] {
  if (reach.isReverse) return recordsOfPage(connection, order, reach, null);
  const end = pageEnds.before(name, reach.skip);
  const skip = reach.skip - (end?.offset ?? 0);
  const rows = recordsOfPage(connection, order, { ...reach, skip }, end?.key ?? null);
  const last = rows.at(-1);
  if (last === undefined) return rows;
  const { host, grade, score, scannedAtMs } = publishedScanFromJson(last.text('scan'));
  const key = { host, grade, rank: -score, recency: -scannedAtMs };
  pageEnds.keep(name, { offset: reach.skip + rows.length, key });
  return rows;
}

/** Those that counters have as proved, and whose proof is too old by now; purges take them in time. */
function countExpired(
  { connection }: SqliteContext,
  { category, verified }: Filter,
  q: string,
  nowMs: number,
): number {
  if (!verified) return 0;
  const row = connection.get(
    `SELECT count(*) AS count FROM listed INDEXED BY listed_by_proof
     WHERE confirmed_at_ms <= ?1 AND (?2 IS NULL OR category = ?2)
       AND (?3 = '' OR instr(host, ?3) > 0)`,
    verifiedSinceMs(nowMs),
    category ?? null,
    q,
  );
  return row?.integer('count') ?? 0;
}
