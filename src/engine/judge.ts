/** Judges one scan: every check of the catalog on the pool, then who depends on whom. */

import type { ObservationName, Observations } from '../model/observations.ts';
import type { CheckResult } from '../model/report.ts';
import { notEvaluated, type Verdict } from '../model/verdict.ts';
import { cleanText } from '../parse/text/text.ts';
import type { Catalog, CatalogCheck } from './catalog/catalog.ts';
import type { DiscoveredCheck } from './catalog/discover-checks.ts';
import { EngineFault } from './errors.ts';
import type { Pool } from './pool/pool.ts';

export type JudgeOptions = {
  readonly catalog: Pick<Catalog, 'checks' | 'checksVersion'>;
  readonly checks: readonly DiscoveredCheck[];
  readonly observations: Observations;
  readonly pool: Pool;
  /** One scan's own: what workers parsed is kept under it. */
  readonly scanKey: string;
  readonly signal?: AbortSignal;
};

type Judged = {
  readonly entry: CatalogCheck;
  readonly requires: readonly string[];
  readonly verdict: Verdict;
};

/** How much of the root cause's evidence is repeated where it is named. */
const CAUSE_CHARS = 160;

/**
 * One result a check, in catalog order. Rejects with EngineFault where the fault is ours, or with
 * the signal's reason; then nothing is left running.
 */
export async function judgeAll(options: JudgeOptions): Promise<readonly CheckResult[]> {
  const { catalog, checks, pool, observations, scanKey } = options;
  const byImpl = new Map(checks.map((check) => [check.impl, check]));
  // One check of ours that is broken spoils the report: the rest is not worth waiting for.
  const abandon = new AbortController();
  const signal = AbortSignal.any([abandon.signal, ...(options.signal ? [options.signal] : [])]);

  const judging = catalog.checks.map(async (entry): Promise<Judged> => {
    const check = byImpl.get(entry.impl);
    if (!check) throw new EngineFault(`${entry.impl} of ${catalog.checksVersion} is not loaded.`);
    const { needs, requires } = check.definition;
    const verdict = await pool.judge(check, only(observations, needs), scanKey, signal);
    return { entry, requires, verdict };
  });
  try {
    return applyPrerequisites(await Promise.all(judging));
  } catch (error) {
    abandon.abort(error);
    await Promise.allSettled(judging);
    throw error;
  }
}

function only(
  observations: Observations,
  needs: readonly ObservationName[],
): Partial<Observations> {
  return Object.fromEntries(needs.map((name) => [name, observations[name]]));
}

/** A check whose prerequisite failed means nothing, whatever it found: it names the root cause. */
export function applyPrerequisites(judged: readonly Judged[]): readonly CheckResult[] {
  const byId = new Map(judged.map((one) => [one.entry.id, one]));
  const roots = new Map<string, Judged | null>();

  /** The failed check at the start of the chain, `one` itself included; null where it stands. */
  function rootOf(one: Judged): Judged | null {
    const known = roots.get(one.entry.id);
    if (known !== undefined) return known;
    const root = brokenPrerequisite(one) ?? (one.verdict.status === 'fail' ? one : null);
    roots.set(one.entry.id, root);
    return root;
  }

  /** The order of `requires` decides which of several causes is named. */
  function brokenPrerequisite(one: Judged): Judged | null {
    for (const id of one.requires) {
      const prerequisite = byId.get(id);
      const root = prerequisite ? rootOf(prerequisite) : null;
      if (root) return root;
    }
    return null;
  }

  return judged.map((one) => {
    const root = brokenPrerequisite(one);
    return toResult(one.entry, root ? dependent(root) : one.verdict);
  });
}

function dependent({ entry, verdict }: Judged): Verdict {
  const evidence = cleanText(verdict.evidence, CAUSE_CHARS);
  return notEvaluated(
    entry.id,
    `${entry.title} failed: ${evidence}`,
    `First correct what ${entry.id} names, then scan again: ${verdict.fix}`,
  );
}

function toResult(entry: CatalogCheck, verdict: Verdict): CheckResult {
  const { id, title, category, severity } = entry;
  return { id, title, category, severity, ...verdict };
}
