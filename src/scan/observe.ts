import type { Oracle } from '../buyers/create-oracle.ts';
import type { ListedChallenges } from '../buyers/list-challenges.ts';
import { selectObservations } from '../engine/judging-pool.ts';
import type { Origin } from '../guard/origin.ts';
import type { Observations, ProbingOptions, ResourceSet } from '../model/observations.ts';
import type { Payee, Standing } from '../model/standing.ts';
import type { ProbeClient } from '../probe/client/client.ts';
import { RequestCache } from '../probe/client/request-cache.ts';
import {
  EMPTY_PLAN,
  type FirstAnswers,
  firstWave,
  isReachable,
  SILENT_PLAN,
  secondWave,
} from '../probe/gather.ts';
import { FIRST_WAVE, type FirstWave } from '../probe/plan/declared-requests.ts';
import type { Plan } from '../probe/plan/plan.ts';
import type { McpWanted, SeenTools } from './observe-tools.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

export type Stage = 'documents' | 'resources' | 'details';

export type ObserveOptions = {
  readonly client: Pick<ProbeClient, 'request'>;
  readonly standing: Standing;
  readonly probing: ProbingOptions;
  readonly userAgent: string;
  readonly work: ScanWork;
  /** Runs the official clients on the challenges; absent, none is run. */
  readonly oracle?: Oracle | undefined;
  readonly onStage?: ((stage: Stage) => void) | undefined;
  /** Set by the command line only, on request. */
  readonly mcp?: McpWanted | undefined;
};

const PLAN_MODULE: WorkModule<typeof import('../probe/plan/plan.ts')> = new URL(
  '../probe/plan/plan.ts',
  import.meta.url,
);
const PAYEES_MODULE: WorkModule<typeof import('../probe/plan/payees.ts')> = new URL(
  '../probe/plan/payees.ts',
  import.meta.url,
);
const OFFERS_MODULE: WorkModule<typeof import('../probe/plan/payees.ts')> = new URL(
  '../probe/plan/payees.ts',
  import.meta.url,
);
const CHALLENGES_MODULE: WorkModule<typeof import('../buyers/list-challenges.ts')> = new URL(
  '../buyers/list-challenges.ts',
  import.meta.url,
);
const NO_CHALLENGES: ListedChallenges = { challenged: [], silent: [] };
const PLAN_FAILURES = {
  limits: 'the documents of this origin could not be read within limits',
  fault: 'our reading of the documents of this origin broke, and the fault is ours',
} as const;

/** Gathers everything in waves of requests, each planned from the previous answers. Judging comes later. */
export async function observe(origin: Origin, options: ObserveOptions): Promise<Observations> {
  const { client, standing, probing, userAgent, work, oracle, onStage, mcp } = options;
  const cache = new RequestCache(client, origin);
  // The thread loads while the first documents are requested, and ends when nothing is sold.
  oracle?.start();
  onStage?.('documents');
  const first = await firstWave(cache, origin, standing);
  const { plan, planFailure } = await planFrom(first, isReachable(first), work);

  const tools = mcp === undefined ? NO_TOOLS : await observeTools(origin, first, mcp, cache, work);
  onStage?.('resources');
  const second = await secondWave(cache, plan, { probing, userAgent });

  onStage?.('details');
  const early = withTools(second.resources, tools);
  const [details, standings, earlyPayability] = await Promise.all([
    second.details(),
    askStanding(origin, standing, early, work),
    // Most challenges are known by now, so clients try them during the remaining requests.
    runClients(early, work, oracle),
  ]);
  const { icons } = details;
  const resources = withTools(details.resources, tools);
  const payability =
    resources === early ? earlyPayability : await runClients(resources, work, oracle);
  const { origin: facts, x402scan, listing, ...fixed } = first;
  return {
    origin: facts,
    probing: mcp === undefined ? probing : { ...probing, mcp: true },
    ...fixed,
    resources: planFailure === undefined ? resources : { ...resources, planFailure },
    links: second.links,
    icons,
    ...(second.browser === undefined ? {} : { browser: second.browser }),
    payability,
    x402scan,
    listing,
    ...standings,
  };
}

const NO_TOOLS: SeenTools = {
  resources: [],
  declared: 0,
  uncalled: 0,
  looked: [],
  endpoint: null,
};

async function observeTools(
  origin: Origin,
  first: FirstAnswers,
  mcp: McpWanted,
  cache: RequestCache,
  work: ScanWork,
): Promise<SeenTools> {
  if (!isReachable(first)) return NO_TOOLS;
  const { ToolObserver } = await import('./observe-tools.ts');
  return new ToolObserver(origin, cache, work).observe(first, mcp);
}

/** Adds tools to the resources and removes their endpoint, which documents may list. */
function withTools(resources: ResourceSet, tools: SeenTools): ResourceSet {
  if (tools === NO_TOOLS) return resources;
  const probed = resources.probed.filter(
    ({ path, probes }) =>
      path !== tools.endpoint ||
      probes.some(({ answer }) => answer.ok && answer.data.status === 402),
  );
  const dropped = resources.probed.length - probed.length;
  const isKnown = (path: string) => probed.some((one) => one.path === path);
  const added = tools.resources.filter(({ path }) => !isKnown(path));
  const known = tools.resources.length - added.length;
  return {
    ...resources,
    probed: [...probed, ...added],
    declared: resources.declared - dropped + tools.declared - known,
    looked: [...resources.looked, ...tools.looked],
    ...(tools.uncalled > 0 ? { uncalledTools: tools.uncalled } : {}),
  };
}

type Planned = { readonly plan: Plan; readonly planFailure?: string };

/** An unreachable origin has no plan, and an unreadable one has an empty plan. */
export async function planFrom(
  first: FirstWave,
  reachable: boolean,
  work: ScanWork,
): Promise<Planned> {
  if (!reachable) return { plan: SILENT_PLAN };
  const seen = selectObservations(first, FIRST_WAVE);
  const worked = await workOn(work, 'origin', PLAN_MODULE, 'makePlan', seen);
  if (worked.ok) return { plan: worked.output };
  // When the budget is spent no check will be judged, so the origin gets no more requests.
  const plan = work.account.origin.isSpent() ? SILENT_PLAN : EMPTY_PLAN;
  return { plan, planFailure: PLAN_FAILURES[worked.why] };
}

/** Returns the official clients' verdicts; null when none is run. */
async function runClients(
  resources: Observations['resources'],
  work: ScanWork,
  oracle: Oracle | undefined,
): Promise<Observations['payability']> {
  if (oracle === undefined) return null;
  // Challenges are tried even after the requests' deadline, which the origin may have used up.
  const own = { ...work, deadline: undefined };
  const worked = await workOn(own, 'origin', CHALLENGES_MODULE, 'listChallenges', resources);
  return await oracle.judge(worked.ok ? worked.output : NO_CHALLENGES, work.signal);
}

/** Asks third parties about the recipients. */
async function askStanding(
  origin: Origin,
  standing: Standing,
  resources: Observations['resources'],
  work: ScanWork,
): Promise<Pick<Observations, 'settlements' | 'bazaar' | 'chain'>> {
  const payees = standing.isOff === true ? [] : await selectPayees(resources, work);
  const isSold = resources.probed.length > 0;
  const [settlements, chain, bazaar] = await Promise.all([
    standing.settlements(origin, payees),
    isSold ? askChain(standing, resources, work) : [],
    isSold ? standing.listings?.(payees) : undefined,
  ]);
  return {
    settlements,
    ...(chain.length === 0 ? {} : { chain }),
    ...(bazaar === undefined ? {} : { bazaar }),
  };
}

async function askChain(
  { onChain }: Standing,
  resources: Observations['resources'],
  work: ScanWork,
): Promise<NonNullable<Observations['chain']>> {
  if (onChain === undefined) return [];
  const worked = await workOn(work, 'standing', OFFERS_MODULE, 'findChainOffers', resources);
  return worked.ok && worked.output.length > 0 ? onChain(worked.output) : [];
}

/** Selects the challenges' recipients that third parties are asked about. */
export async function selectPayees(
  resources: Observations['resources'],
  work: ScanWork,
): Promise<readonly Payee[]> {
  const worked = await workOn(work, 'standing', PAYEES_MODULE, 'findPayees', resources);
  return worked.ok ? worked.output : [];
}
