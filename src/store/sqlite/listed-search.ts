/** Listed hosts by category, proof and a part of the host: how many, and one page of them. */
import type { DirectoryQuery } from '../contract/directory.ts';
import { verifiedSinceMs } from '../contract/ownership.ts';
import { NGRAM_LENGTH } from '../rules/host-ngrams.ts';
import type { SqliteContext } from './context.ts';
import { countListed, countNgram } from './listed-counts.ts';
import { listedOrder } from './listed-order.ts';
import { type PageRange, pageOf, pageOfMatches, reachOf } from './listed-pages.ts';
import { fewCandidates, matchesAmong } from './rare-matches.ts';

export type FoundIds = {
  readonly count: number;
  /** Of records, in the order that was asked for. */
  readonly ids: readonly number[];
};

type Filter = Pick<DirectoryQuery, 'sort' | 'category' | 'verified'>;

/** @param q as hosts are spelt; empty: all */
export async function findListed(
  context: SqliteContext,
  filter: Filter,
  q: string,
  range: PageRange,
): Promise<FoundIds> {
  const { connection, now } = context;
  const nowMs = now();
  const order = listedOrder(filter, nowMs);
  const counted = { category: filter.category, proved: filter.verified === true };
  if (q === '') {
    const count = countListed(connection, counted) - countExpired(context, filter, q, nowMs);
    return { count, ids: pageOf(connection, order, reachOf(range, count)) };
  }
  const candidates = q.length < NGRAM_LENGTH ? null : fewCandidates(context, q);
  if (candidates !== null) {
    const ids = matchesAmong(connection, candidates, order, q);
    return { count: ids.length, ids: ids.slice(range.offset, range.offset + range.size) };
  }
  const everProved =
    q.length <= NGRAM_LENGTH
      ? countNgram(connection, q, counted)
      : await context.substringCounts.count({ ...counted, q });
  const count = everProved - countExpired(context, filter, q, nowMs);
  return { count, ids: await pageOfMatches(context, order, q, reachOf(range, count)) };
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
