/** Hosts with a substring that few can have: found by its trigrams, and looked at one by one. */
import { NGRAM_LENGTH, ngramsOfSubstring } from '../shared/host-ngrams.ts';
import { LONGEST_COUNTED } from './common-runs.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { type ListedOrder, orderBy } from './listed-order.ts';
import { ALL_LISTED, countNgram } from './run-counts.ts';

/** Of a run, the rarest are searched for: to follow a common one costs more than the hosts it leaves out. */
const MOST_TRIGRAMS = 3;
const COMMONER = 8;

/** What counters say of a substring: how many hosts have it, or what to look for among few of them. */
export type KnownRun = {
  /** Whether the counters count exactly this. */
  readonly isCounted: boolean;
  /** A counted run in it that few hosts have; null: there is none. */
  readonly rareRun: string | null;
};

type Searched = Pick<SqliteContext, 'connection' | 'commonRuns' | 'search'>;

/** Run by run, from the short ones on: the first that few hosts have is enough. */
export function knownRunOf(context: Searched, q: string): KnownRun {
  const longest = Math.min(q.length - 1, LONGEST_COUNTED);
  for (let length = NGRAM_LENGTH; length <= longest; length += 1) {
    for (const run of runsOf(q, length)) {
      if (isRare(context, run)) return { isCounted: false, rareRun: run };
    }
  }
  if (q.length > LONGEST_COUNTED) return { isCounted: false, rareRun: null };
  return { isCounted: true, rareRun: isRare(context, q) ? q : null };
}

/**
 * A full-text query for few hosts, all that have the substring among them; null: for too many.
 * @param rareRun what few hosts have of it
 * @param hosts how many may have it
 */
export function fewCandidates(
  context: Searched,
  q: string,
  rareRun: string,
  hosts: number,
): string | null {
  if (rareRun.length < NGRAM_LENGTH) return null;
  const { connection } = context;
  const ngrams = new Set([...rarestNgrams(context, rareRun), ...rarestNgrams(context, q)]);
  const query = [...ngrams].map(quoted).join(' AND ');
  // Some hosts have each of them, and not the run.
  const most = hosts * 2;
  const row = connection.get(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM host_trigrams WHERE host_trigrams MATCH ? LIMIT ?)`,
    query,
    most + 1,
  );
  return (row?.integer('count') ?? 0) <= most ? query : null;
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

function isRare({ connection, commonRuns, search }: Searched, run: string): boolean {
  if (!commonRuns.has(run)) return true;
  return countNgram(connection, run, ALL_LISTED) <= search.candidates;
}

function rarestNgrams({ connection }: Searched, run: string): readonly string[] {
  const byRarity = ngramsOfSubstring(run)
    .map((ngram) => ({ ngram, n: countNgram(connection, ngram, ALL_LISTED) }))
    .sort((a, b) => a.n - b.n)
    .slice(0, MOST_TRIGRAMS);
  const most = (byRarity[0]?.n ?? 0) * COMMONER;
  return byRarity.filter(({ n }) => n <= most).map(({ ngram }) => ngram);
}

function runsOf(q: string, length: number): readonly string[] {
  const count = q.length - length + 1;
  return Array.from({ length: count }, (_, at) => q.slice(at, at + length));
}

/** A quoted phrase is taken literally; hosts have no quotes. */
function quoted(trigram: string): string {
  return `"${trigram}"`;
}
