/** Readers of a scan's observations that are not checks. Each runs on a worker; `kit: true` gives it the scan's kit. */
import type { ComparedRow } from '../indexes/compare-listings.ts';
import { toReason } from '../indexes/listing-reasons.ts';
import { INDEXED_REASONS, type IndexedRow } from '../model/indexed.ts';
import type { Observations } from '../model/observations.ts';
import { OTHER_CATEGORY, type ReportRoute } from '../model/report.ts';
import type { FirstWave } from '../probe/plan/declared-requests.ts';
import type { Plan } from '../probe/plan/plan.ts';
import type { DescribedChallenges, OriginDescription } from './describe-origin.ts';
import type { RouteAnswer } from './find-routes.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';

type PlanModule = typeof import('../probe/plan/plan.ts');
const PLAN: WorkModule<PlanModule> = new URL('../probe/plan/plan.ts', import.meta.url);
export const PLAN_FAILURES = {
  limits: 'the documents of this origin could not be read within limits',
  fault: 'our reading of the documents of this origin broke, and the fault is ours',
} as const;

/** Plan for an origin whose documents could not be read. It has only the icon where browsers look. */
const EMPTY_PLAN: Plan = {
  resources: [],
  declared: 0,
  sold: [],
  otherMethods: 0,
  elsewhere: [],
  unsent: [],
  looked: [],
  unread: [],
  links: { links: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { paths: ['/favicon.ico'], otherHosts: [], inline: false },
};
/** Plan for an origin that did not answer. It has no request. */
const SILENT_PLAN: Plan = { ...EMPTY_PLAN, icons: { ...EMPTY_PLAN.icons, paths: [] } };

export type PlanResult = { readonly plan: Plan; readonly planFailure?: string };

/** Makes the plan. An origin that did not answer gets no request, and an unreadable origin only one for its icon. */
export async function readPlan(
  firstWave: FirstWave,
  isReachable: boolean,
  work: ScanWork,
): Promise<PlanResult> {
  if (!isReachable) return { plan: SILENT_PLAN };
  const result = await runOnWorker(work, 'origin', PLAN, 'makePlan', firstWave, { kit: true });
  if (result.ok) return { plan: result.output };
  // If the budget is spent, no check will be judged, so the origin gets no more requests.
  const plan = work.account.origin.isSpent() ? SILENT_PLAN : EMPTY_PLAN;
  return { plan, planFailure: PLAN_FAILURES[result.why] };
}

type DescribeModule = typeof import('./describe-origin.ts');
const DESCRIBE: WorkModule<DescribeModule> = new URL('./describe-origin.ts', import.meta.url);
export const NO_CHALLENGES: DescribedChallenges = {
  payees: [],
  chainOffers: [],
  listed: { challenged: [], silent: [] },
};

export async function describeChallenges(
  resources: Observations['resources'],
  work: ScanWork,
): Promise<DescribedChallenges> {
  // Challenges are tried even after the requests' deadline, which the origin may have used up.
  const lateWork = { ...work, deadline: undefined };
  const input = { resources };
  const result = await runOnWorker(lateWork, 'origin', DESCRIBE, 'describeChallenges', input, {
    kit: true,
  });
  return result.ok ? result.output : NO_CHALLENGES;
}

type RoutesModule = typeof import('./find-routes.ts');
const ROUTES: WorkModule<RoutesModule> = new URL('./find-routes.ts', import.meta.url);

/** Describes a paid route that no document declares; null without a challenge that can be read within the limits. */
export async function describeUndeclaredRoute(
  answer: RouteAnswer,
  work: ScanWork,
): Promise<ReportRoute | null> {
  const result = await runOnWorker(work, 'origin', ROUTES, 'readUndeclaredRoute', answer);
  return result.ok ? result.output : null;
}

/** Describes the origin. If its documents exceed the limits, the description has only the host. */
export async function describeOrigin(
  observations: Observations,
  work: ScanWork,
): Promise<OriginDescription> {
  // Answers of indexes are read on the budget `standing` only, never on the budget `origin`.
  const { x402scan, settlements, listing, bazaar, ...input } = observations;
  const result = await runOnWorker(work, 'origin', DESCRIBE, 'describeOrigin', input, {
    kit: true,
  });
  if (result.ok) return result.output;
  const branding = {
    displayName: observations.origin.host,
    description: '',
    category: OTHER_CATEGORY,
    iconUrl: null,
    ogImageUrl: null,
  };
  return { branding, advice: [], otherWays: [], routes: null };
}

const LISTINGS: WorkModule<typeof import('../indexes/compare-listings.ts')> = new URL(
  '../indexes/compare-listings.ts',
  import.meta.url,
);
const VALIDATOR: WorkModule<typeof import('../indexes/validate-declarations.ts')> = new URL(
  '../indexes/validate-declarations.ts',
  import.meta.url,
);

/** Reads the rows of indexes. Returns none if nothing is sold, no index is asked, or a limit is exceeded. */
export async function readIndexed(
  observations: Observations,
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  const { origin, resources, x402scan, settlements, bazaar } = observations;
  if (resources.probed.length === 0) return [];
  const listed = { origin, resources, x402scan, settlements, ...(bazaar && { bazaar }) };
  const result = await runOnWorker(work, 'standing', LISTINGS, 'compareListings', listed, {
    kit: true,
  });
  return result.ok ? addInvalidDeclarations(result.output, work) : [];
}

/** Adds the errors of invalid declarations. The validator is loaded only if there is a declaration. */
async function addInvalidDeclarations(
  rows: readonly ComparedRow[],
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  if (rows.every(({ declaration }) => declaration === undefined)) return rows.map(({ row }) => row);
  const input = rows.map(({ declaration = VALID_PLACEHOLDER }) => declaration);
  const validation = await runOnWorker(work, 'standing', VALIDATOR, 'validateDeclarations', input);
  const errors = validation.ok ? validation.output : [];
  return rows.map(({ row, declaration }, index) => {
    const error = declaration === undefined ? null : (errors[index] ?? null);
    if (error === null) return row;
    const reasons = [...row.reasons, toReason('invalid_bazaar_extension', error)].toSorted(
      (a, b) => INDEXED_REASONS.indexOf(a.code) - INDEXED_REASONS.indexOf(b.code),
    );
    return { ...row, reasons };
  });
}

/** Stands for a missing declaration, so that verdicts and rows have equal indexes. Its verdict is ignored. */
const VALID_PLACEHOLDER = { info: {}, schema: {} };
