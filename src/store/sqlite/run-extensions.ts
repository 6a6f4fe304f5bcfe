/** Begins to count the runs that are one longer than a run that has become common. */
import { ngramsOfSubstring } from '../shared/host-ngrams.ts';
import { type CommonRuns, LONGEST_COUNTED } from './common-runs.ts';
import type { Connection } from './connection.ts';
import type { ListedGroup } from './listed-move.ts';
import { ALL_LISTED, addToRun, countNgram } from './run-counts.ts';

export type Extending = {
  readonly connection: Connection;
  readonly commonRuns: CommonRuns;
  /** A run is common where more hosts have it. */
  readonly commonAbove: number;
};

/** In the transaction that made these runs common, if they are: `listed` and all counters agree. */
export function extendCommonRuns(extending: Extending, runs: readonly string[]): void {
  const waiting = [...runs];
  for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
    const { connection, commonRuns, commonAbove } = extending;
    if (run.length >= LONGEST_COUNTED || commonRuns.has(run)) continue;
    if (countNgram(connection, run, ALL_LISTED) <= commonAbove) continue;
    commonRuns.add(run);
    for (const longer of countExtensions(extending, run)) waiting.push(longer);
  }
}

/** Counts every listed host with the run for each run that is one longer; answers these. */
function countExtensions({ connection, commonRuns }: Extending, run: string): Iterable<string> {
  const rows = connection.all(
    `SELECT host, category, confirmed_at_ms IS NOT NULL AS proved
     FROM (SELECT rowid AS found FROM host_trigrams WHERE host_trigrams MATCH ?)
       CROSS JOIN listed ON listed.id = found WHERE instr(host, ?) > 0`,
    ngramsOfSubstring(run)
      .map((ngram) => `"${ngram}"`)
      .join(' AND '),
    run,
  );
  const counts = new Map<string, Map<string, { group: ListedGroup; n: number }>>();
  for (const row of rows) {
    const group = { category: row.text('category'), isProved: row.integer('proved') === 1 };
    for (const longer of extensionsIn(row.text('host'), run, commonRuns)) {
      const byGroup = counts.get(longer) ?? new Map<string, { group: ListedGroup; n: number }>();
      counts.set(longer, byGroup);
      const name = `${group.isProved} ${group.category}`;
      const counted = byGroup.get(name) ?? { group, n: 0 };
      counted.n += 1;
      byGroup.set(name, counted);
    }
  }
  for (const [longer, byGroup] of counts) {
    for (const { group, n } of byGroup.values()) addToRun(connection, longer, group, n);
  }
  return counts.keys();
}

/** Of each place of the run in the host: one more before it, and one more behind it. */
function extensionsIn(host: string, run: string, commonRuns: CommonRuns): ReadonlySet<string> {
  const longer = new Set<string>();
  for (let at = host.indexOf(run); at >= 0; at = host.indexOf(run, at + 1)) {
    const end = at + run.length;
    if (end < host.length && commonRuns.has(host.slice(at + 1, end + 1))) {
      longer.add(host.slice(at, end + 1));
    }
    if (at > 0 && commonRuns.has(host.slice(at - 1, end - 1))) longer.add(host.slice(at - 1, end));
  }
  return longer;
}
