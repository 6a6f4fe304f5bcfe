/** Counts every run of characters of listed hosts anew. */
import { allNgramsOf, NGRAM_LENGTH } from '../shared/host-ngrams.ts';
import { CommonRuns, LONGEST_COUNTED } from './common-runs.ts';
import type { Connection } from './connection.ts';
import type { ListedGroup } from './listed-move.ts';
import { addToRun } from './run-counts.ts';

/** Hosts that are read together. */
const BATCH = 10_000;

type Counted = { readonly group: ListedGroup; readonly counts: Map<string, number> };
type Host = { readonly host: string; readonly counted: Counted };

/** Length by length: longer runs are counted where their shorter halves are common. */
export function rebuildRuns(connection: Connection, commonAbove: number): void {
  const commonRuns = new CommonRuns(connection);
  commonRuns.load();
  const groups = new Map<string, Counted>();
  let hosts = readHosts(connection, groups);
  for (const { host, counted } of hosts) for (const run of allNgramsOf(host)) add(counted, run);
  for (let length = NGRAM_LENGTH; ; length += 1) {
    const common = commonOf(groups.values(), length, commonAbove);
    for (const run of common) commonRuns.add(run);
    for (const { group, counts } of groups.values()) {
      for (const [run, n] of counts) addToRun(connection, run, group, n);
      counts.clear();
    }
    if (common.size === 0 || length === LONGEST_COUNTED) return;
    // Hosts without a run to be counted have no longer one either.
    hosts = hosts.filter((host) => countLonger(host, length + 1, common));
  }
}

function readHosts(connection: Connection, groups: Map<string, Counted>): Host[] {
  const hosts: Host[] = [];
  for (let after = -1; ; ) {
    const rows = connection.all(
      `SELECT id, host, category, confirmed_at_ms IS NOT NULL AS proved FROM listed
       WHERE id > ? ORDER BY id LIMIT ${BATCH}`,
      after,
    );
    for (const row of rows) {
      const group = { category: row.text('category'), isProved: row.integer('proved') === 1 };
      const name = `${group.isProved} ${group.category}`;
      const counted = groups.get(name) ?? { group, counts: new Map<string, number>() };
      groups.set(name, counted);
      hosts.push({ host: row.text('host'), counted });
    }
    const last = rows.at(-1);
    if (last === undefined) return hosts;
    after = last.integer('id');
  }
}

/** Whether there was one. `common`: runs that are one shorter. */
function countLonger(
  { host, counted }: Host,
  length: number,
  common: ReadonlySet<string>,
): boolean {
  const runs = new Set<string>();
  let isHalfCommon = false;
  for (let at = 0; at + length - 1 <= host.length; at += 1) {
    const isCommon = common.has(host.slice(at, at + length - 1));
    if (isHalfCommon && isCommon) runs.add(host.slice(at - 1, at + length - 1));
    isHalfCommon = isCommon;
  }
  for (const run of runs) add(counted, run);
  return runs.size > 0;
}

function add({ counts }: Counted, run: string): void {
  counts.set(run, (counts.get(run) ?? 0) + 1);
}

function commonOf(
  groups: Iterable<Counted>,
  length: number,
  commonAbove: number,
): ReadonlySet<string> {
  const sums = new Map<string, number>();
  for (const { counts } of groups) {
    for (const [run, n] of counts) {
      if (run.length === length) sums.set(run, (sums.get(run) ?? 0) + n);
    }
  }
  return new Set([...sums].filter(([, n]) => n > commonAbove).map(([run]) => run));
}
