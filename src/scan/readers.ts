/** Readers of a scan's observations beside the checks. Each runs on a worker that can be killed. */
import type { ComparedRow } from '../indexes/compare-listings.ts';
import { reason } from '../indexes/listing-reasons.ts';
import type { IndexedRow } from '../model/indexed.ts';
import { INDEXED_REASONS } from '../model/indexed.ts';
import type { Observations } from '../model/observations.ts';
import { type Branding, OTHER_CATEGORY } from '../model/report.ts';
import type { FirstWave } from '../probe/plan/declared-requests.ts';
import type { Plan } from '../probe/plan/plan.ts';
import type { DescribedChallenges } from './describe-challenges.ts';
import type { OriginDescription } from './describe-origin.ts';
import { type Reader, readOn, type ScanWork, type WorkModule, workOn } from './origin-work.ts';

const PLAN: Reader<typeof import('../probe/plan/plan.ts'), 'makePlan'> = {
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

/** The plan for an origin whose documents say nothing, or could not be read: icons where browsers look. */
const EMPTY_PLAN: Plan = {
  resources: [],
  declared: 0,
  otherMethods: 0,
  elsewhere: [],
  looked: [],
  links: { links: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { paths: ['/favicon.ico'], otherHosts: [], inline: false },
};
/** The plan for an origin that did not answer: no icon either. */
const SILENT_PLAN: Plan = { ...EMPTY_PLAN, icons: { ...EMPTY_PLAN.icons, paths: [] } };

export type Planned = { readonly plan: Plan; readonly planFailure?: string };

/** An unreachable origin has no plan, and an unreadable one has an empty plan. */
export async function planFrom(
  first: FirstWave,
  reachable: boolean,
  work: ScanWork,
): Promise<Planned> {
  if (!reachable) return { plan: SILENT_PLAN };
  const read = await readOn(work, PLAN, first);
  if (read.ok) return { plan: read.output };
  // When the budget is spent no check will be judged, so the origin gets no more requests.
  const plan = work.account.origin.isSpent() ? SILENT_PLAN : EMPTY_PLAN;
  return { plan, planFailure: PLAN_FAILURES[read.why] };
}

const CHALLENGES: Reader<typeof import('./describe-challenges.ts'), 'describeChallenges'> = {
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
  const read = await readOn({ ...work, deadline: undefined }, CHALLENGES, { resources });
  return read.ok ? read.output : NO_CHALLENGES;
}

const ORIGIN: Reader<typeof import('./describe-origin.ts'), 'describeOrigin'> = {
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
    agentCard: true,
    icons: true,
    resources: true,
    x402scan: true,
    browser: true,
    chain: true,
  },
};

/** An origin that exceeds the limits is shown by its host. */
export async function describeOrigin(
  seen: Observations,
  work: ScanWork,
): Promise<OriginDescription> {
  const read = await readOn(work, ORIGIN, seen);
  if (read.ok) return read.output;
  return { branding: plainBranding(seen.origin.host), advice: [], otherWays: [], routes: null };
}

/** Branding for an origin whose documents could not be read, or are not shown. */
export function plainBranding(host: string): Branding {
  return {
    displayName: host,
    description: '',
    category: OTHER_CATEGORY,
    iconUrl: null,
    ogImageUrl: null,
  };
}

const LISTINGS: Reader<typeof import('../indexes/compare-listings.ts'), 'compareListings'> = {
  module: new URL('../indexes/compare-listings.ts', import.meta.url),
  exportName: 'compareListings',
  budget: 'standing',
  needs: { origin: true, resources: true, x402scan: true, settlements: true, bazaar: true },
};
const VALIDATE_MODULE: WorkModule<typeof import('../indexes/validate-declarations.ts')> = new URL(
  '../indexes/validate-declarations.ts',
  import.meta.url,
);

/** Empty when nothing is sold, no index is asked, or the answers exceed the limits. */
export async function readIndexed(
  seen: Observations,
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  if (seen.resources.probed.length === 0) return [];
  const read = await readOn(work, LISTINGS, seen);
  return read.ok ? withInvalidDeclarations(read.output, work) : [];
}

/** The validator is loaded only when a missing resource has a declaration. */
async function withInvalidDeclarations(
  rows: readonly ComparedRow[],
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  const declared = rows.flatMap(({ declaration }) => declaration ?? []);
  if (declared.length === 0) return rows.map(({ row }) => row);
  const declarations = rows.map(({ declaration }) => declaration ?? VALID);
  const worked = await workOn(
    work,
    'standing',
    VALIDATE_MODULE,
    'validateDeclarations',
    declarations,
  );
  return rows.map(({ row, declaration }, index) => {
    const error = declaration === undefined || !worked.ok ? null : (worked.output[index] ?? null);
    if (error === null) return row;
    const reasons = [...row.reasons, reason('invalid_bazaar_extension', error)].toSorted(
      (one, other) => INDEXED_REASONS.indexOf(one.code) - INDEXED_REASONS.indexOf(other.code),
    );
    return { ...row, reasons };
  });
}

/** Placeholder for a missing declaration; its verdict is ignored. */
const VALID = { info: {}, schema: {} };
