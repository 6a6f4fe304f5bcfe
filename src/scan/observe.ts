import type { Oracle } from '../buyers/create-oracle.ts';
import type { Origin } from '../guard/origin.ts';
import type { Observations, ProbingOptions, ResourceSet } from '../model/observations.ts';
import type { Standing } from '../model/standing.ts';
import type { RequestCache } from '../probe/client/request-cache.ts';
import { askFixedPaths, type FixedPaths } from '../probe/first-wave.ts';
import { probeFurther, probeResources, toResourceSet } from '../probe/probe-resources.ts';
import { askAsBrowser, askIcons, askIconsByGet, followLinks } from '../probe/second-wave.ts';
import { planForCensus } from './census-plan.ts';
import type { McpOptions, ToolObservations } from './observe-tools.ts';
import type { ScanWork } from './origin-work.ts';
import { describeChallenges, NO_CHALLENGES, type Planned, planFrom } from './readers.ts';
import type { CensusWish } from './scanner.ts';

export type ScanStage = 'documents' | 'resources' | 'details';

/** A scan that gathers. */
export type Gathering = {
  readonly origin: Origin;
  readonly cache: RequestCache;
  readonly standing: Standing;
  readonly probing: ProbingOptions;
  readonly userAgent: string;
  readonly work: ScanWork;
  /** Runs the official clients on the challenges; absent, none is run. */
  readonly oracle?: Oracle | undefined;
  readonly onStage?: ((stage: ScanStage) => void) | undefined;
  /** Set by the command line only, on request. */
  readonly mcp?: McpOptions | undefined;
  readonly census?: CensusWish | undefined;
};

/** The answers at fixed paths, and those of the indexes about the origin. */
type Documents = FixedPaths & Pick<Observations, 'origin' | 'x402scan' | 'listing'>;

/** The first wave. */
export async function gatherDocuments(scan: Gathering): Promise<Documents> {
  const { origin, cache, standing, oracle, onStage } = scan;
  // The thread loads while the first documents are requested, and ends when nothing is sold.
  oracle?.start();
  onStage?.('documents');
  const [fixed, indexes] = await Promise.all([askFixedPaths(cache), standing.origin(origin)]);
  return { origin, ...fixed, ...indexes };
}

type PlannedRequests = Planned & { readonly tools: ToolObservations | null };

/** Derives the further requests from the documents; with `mcp`, calls the tools of an endpoint too. */
export async function planRequests(
  documents: Documents,
  scan: Gathering,
): Promise<PlannedRequests> {
  const { origin, cache, work, mcp, census } = scan;
  const isReachable = Object.values(documents).some((seen) => 'ok' in seen && seen.ok);
  const answer = await planFrom(documents, isReachable, work);
  const isCensus = census !== undefined && isReachable && answer.planFailure === undefined;
  const planned = isCensus
    ? { plan: await planForCensus(answer.plan, documents, census, work) }
    : answer;
  if (mcp === undefined || !isReachable) return { ...planned, tools: null };
  const { ToolObserver } = await import('./observe-tools.ts');
  const tools = await new ToolObserver(origin, cache, work).observe(documents, mcp);
  return { ...planned, tools };
}

/** The second wave, and what third parties and the official clients say of its challenges. */
export async function gatherPlanned(
  documents: Documents,
  { plan, planFailure, tools }: PlannedRequests,
  scan: Gathering,
): Promise<Observations> {
  const { cache, probing, userAgent, onStage, mcp } = scan;
  onStage?.('resources');
  // Resources come before links, so that a spent budget cuts links first.
  const [probed, icons, browser, links] = await Promise.all([
    probeResources(cache, plan, probing),
    askIcons(cache, plan.icons),
    askAsBrowser(cache, plan.resources, userAgent),
    followLinks(cache, plan.links),
  ]);

  onStage?.('details');
  const early = withTools(toResourceSet(plan, probed), tools);
  const [all, settledIcons, earlyAnswers] = await Promise.all([
    probeFurther(cache, probed, probing),
    askIconsByGet(cache, plan.icons, icons),
    // Most challenges are known by now, so others are asked about them during the remaining requests.
    askAboutChallenges(early, scan),
  ]);
  const resources = all === probed ? early : withTools(toResourceSet(plan, all), tools);
  const { payability, ...standings } = earlyAnswers;
  return {
    ...documents,
    probing: mcp === undefined ? probing : { ...probing, mcp: true },
    resources: planFailure === undefined ? resources : { ...resources, planFailure },
    links,
    icons: settledIcons,
    ...(browser === null ? {} : { browser }),
    payability: resources === early ? payability : await runClients(resources, scan),
    ...standings,
  };
}

/** Adds tools to the resources and removes their endpoint, which documents may list. */
function withTools(resources: ResourceSet, tools: ToolObservations | null): ResourceSet {
  if (tools === null) return resources;
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

/** Asks third parties about recipients and offers, and runs the official clients. */
async function askAboutChallenges(
  resources: ResourceSet,
  { origin, standing, oracle, work }: Gathering,
): Promise<Pick<Observations, 'settlements' | 'bazaar' | 'chain' | 'payability'>> {
  const { isOff = false, onChain } = standing;
  const isAsked = oracle !== undefined || onChain !== undefined || !isOff;
  const said = isAsked ? await describeChallenges(resources, work) : NO_CHALLENGES;
  const payees = isOff ? [] : said.payees;
  const isSold = resources.probed.length > 0;
  const [settlements, chain, bazaar, payability] = await Promise.all([
    standing.settlements(origin, payees),
    said.chainOffers.length > 0 ? (onChain?.(said.chainOffers) ?? []) : [],
    isSold ? standing.listings?.(payees, origin) : undefined,
    oracle?.tryChallenges(said.listed, work.signal) ?? null,
  ]);
  return {
    settlements,
    ...(chain.length === 0 ? {} : { chain }),
    ...(bazaar === undefined ? {} : { bazaar }),
    payability,
  };
}

/** Returns the official clients' verdicts; null when none is run. */
async function runClients(
  resources: ResourceSet,
  { oracle, work }: Gathering,
): Promise<Observations['payability']> {
  if (oracle === undefined) return null;
  return oracle.tryChallenges((await describeChallenges(resources, work)).listed, work.signal);
}
