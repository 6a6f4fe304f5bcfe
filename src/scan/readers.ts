/** Readers of a scan's observations that are not checks. Each runs on a worker that can be killed. */
import type { ComparedRow } from '../indexes/compare-listings.ts';
import { toReason } from '../indexes/listing-reasons.ts';
import type { IndexedRow } from '../model/indexed.ts';
import { INDEXED_REASONS } from '../model/indexed.ts';
import type { Observations } from '../model/observations.ts';
import { type Branding, OTHER_CATEGORY } from '../model/report.ts';
import type { FirstWave } from '../probe/plan/declared-requests.ts';
import type { Plan } from '../probe/plan/plan.ts';
import type { DescribedChallenges } from './describe-challenges.ts';
import type { OriginDescription } from './describe-origin.ts';
import {
  type Reader,
  readOnWorker,
  runOnWorker,
  type ScanWork,
  type WorkModule,
} from './origin-work.ts';

const PLAN_READER: Reader<typeof import('../probe/plan/plan.ts'), 'makePlan'> = {
  module: new URL('../probe/plan/plan.ts', import.meta.url),
  exportName: 'makePlan',
  budget: 'origin',
  needs: {
    origin: true,
    root: true,
    soft404: true,
    openapi: true,
    openapiAlternates: true,
    manifest: true,
    manifestJson: true,
    llmsTxt: true,
    agentCard: true,
    agentJson: true,
    x402scan: true,
  },
};
const PLAN_FAILURES = {
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
  const result = await readOnWorker(work, PLAN_READER, firstWave);
  if (result.ok) return { plan: result.output };
  // If the budget is spent, no check will be judged, so the origin gets no more requests.
  const plan = work.account.origin.isSpent() ? SILENT_PLAN : EMPTY_PLAN;
  return { plan, planFailure: PLAN_FAILURES[result.why] };
}

const CHALLENGES_READER: Reader<typeof import('./describe-challenges.ts'), 'describeChallenges'> = {
  module: new URL('./describe-challenges.ts', import.meta.url),
  exportName: 'describeChallenges',
  budget: 'origin',
  needs: { resources: true },
};
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
  const result = await readOnWorker({ ...work, deadline: undefined }, CHALLENGES_READER, {
    resources,
  });
  return result.ok ? result.output : NO_CHALLENGES;
}

const ORIGIN_READER: Reader<typeof import('./describe-origin.ts'), 'describeOrigin'> = {
  module: new URL('./describe-origin.ts', import.meta.url),
  exportName: 'describeOrigin',
  budget: 'origin',
  needs: {
    origin: true,
    root: true,
    soft404: true,
    openapi: true,
    openapiAlternates: true,
    manifest: true,
    manifestJson: true,
    llmsTxt: true,
    agentCard: true,
    agentJson: true,
    robots: true,
    links: true,
    icons: true,
    resources: true,
    browser: true,
    chain: true,
  },
};

/** Describes the origin. If its documents exceed the limits, the description has only the host. */
export async function describeOrigin(
  observations: Observations,
  work: ScanWork,
): Promise<OriginDescription> {
  const result = await readOnWorker(work, ORIGIN_READER, observations);
  if (result.ok) return result.output;
  const branding = toPlainBranding(observations.origin.host);
  return { branding, advice: [], otherWays: [], routes: null };
}

/** Branding for an origin whose documents could not be read, or are not shown. */
export function toPlainBranding(host: string): Branding {
  return {
    displayName: host,
    description: '',
    category: OTHER_CATEGORY,
    iconUrl: null,
    ogImageUrl: null,
  };
}

const LISTINGS_READER: Reader<typeof import('../indexes/compare-listings.ts'), 'compareListings'> =
  {
    module: new URL('../indexes/compare-listings.ts', import.meta.url),
    exportName: 'compareListings',
    budget: 'standing',
    needs: { origin: true, resources: true, x402scan: true, settlements: true, bazaar: true },
  };
const VALIDATOR: WorkModule<typeof import('../indexes/validate-declarations.ts')> = new URL(
  '../indexes/validate-declarations.ts',
  import.meta.url,
);

/** Reads the rows of indexes. Returns none if nothing is sold, no index is asked, or a limit is exceeded. */
export async function readIndexed(
  observations: Observations,
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  if (observations.resources.probed.length === 0) return [];
  const result = await readOnWorker(work, LISTINGS_READER, observations);
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

/** Stands for a missing declaration. Its verdict is ignored. */
const VALID_PLACEHOLDER = { info: {}, schema: {} };
