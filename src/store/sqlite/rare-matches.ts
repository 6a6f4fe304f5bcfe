/** Hosts with a substring that few can have: found by its trigrams, and looked at one by one. */
import { ngramsOfSubstring } from '../rules/host-ngrams.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { countNgram } from './listed-counts.ts';
import { type ListedOrder, orderBy } from './listed-order.ts';

const ALL_LISTED = { category: undefined, proved: false };

/** A full-text query for few hosts, all that have the substring among them; null: there is none. */
export function fewCandidates(
  { connection, search }: Pick<SqliteContext, 'connection' | 'search'>,
  q: string,
): string | null {
  const byRarity = ngramsOfSubstring(q)
    .map((ngram) => ({ ngram, n: countNgram(connection, ngram, ALL_LISTED) }))
    .sort((a, b) => a.n - b.n);
  const [rarest] = byRarity;
  if (rarest === undefined) return null;
  if (rarest.n <= search.candidates) return quoted(rarest.ngram);
  if (byRarity.length === 1) return null;
  // Each is on many hosts, but all of them together may be on few.
  const together = byRarity.map(({ ngram }) => quoted(ngram)).join(' AND ');
  const row = connection.get(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM host_trigrams WHERE host_trigrams MATCH ? LIMIT ?)`,
    together,
    search.candidates + 1,
  );
  return (row?.integer('count') ?? 0) <= search.candidates ? together : null;
}

/** Ids of all listed hosts with the substring, in order. */
export function matchesAmong(
  connection: Connection,
  candidates: string,
  order: ListedOrder,
  q: string,
): readonly number[] {
  const rows = connection.all(
    `SELECT id FROM (SELECT rowid AS found FROM host_trigrams WHERE host_trigrams MATCH ?)
       CROSS JOIN listed ON listed.id = found
     WHERE instr(host, ?) > 0 AND ${order.where} ORDER BY ${orderBy(order, false)}`,
    candidates,
    q,
    ...order.values,
  );
  return rows.map((row) => row.integer('id'));
}

/** A quoted phrase is taken literally; hosts have no quotes. */
function quoted(trigram: string): string {
  return `"${trigram}"`;
}
