import type { Clients } from '../clients/open-clients.ts';
import type { Origin } from '../guard/origin.ts';
import type { AnswerObservation, HttpData } from '../model/observation.ts';
import type {
  Observations,
  OpenApiAnswer,
  ProbingOptions,
  ResourceSet,
} from '../model/observations.ts';
import type { Standing } from '../model/standing.ts';
import { isYamlPath } from '../parse/text/document-limits.ts';
import type { RequestCache } from '../probe/client/request-cache.ts';
import { askFixedPaths, type FixedPaths } from '../probe/first-wave.ts';
import {
  hasSameFirstAnswers,
  probeFurther,
  probeResources,
  toResourceSet,
} from '../probe/probe-resources.ts';
import { askAsBrowser, askIcons, askIconsByGet, followLinks } from '../probe/second-wave.ts';
import { planForCensus } from './census-plan.ts';
import type { McpOptions, ToolObservations } from './observe-tools.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';
import { describeChallenges, NO_CHALLENGES, type PlanResult, readPlan } from './readers.ts';
import type { CensusInstructions } from './scanner.ts';

type YamlModule = typeof import('../parse/openapi/yaml.ts');
const YAML: WorkModule<YamlModule> = new URL('../parse/openapi/yaml.ts', import.meta.url);
const YAML_TOO_SLOW = { fault: 'slower to read than a scan allows', isOverLimit: true };

export type ScanStage = 'documents' | 'resources' | 'details';

/** Parts and settings of the scan that gathers observations. */
export type GatheringScan = {
  readonly origin: Origin;
  readonly cache: RequestCache;
  readonly standing: Standing;
  readonly probing: ProbingOptions;
  readonly userAgent: string;
  readonly work: ScanWork;
  /** Runs the official clients on the challenges. If absent, no client is run. */
  readonly clients?: Clients | undefined;
  readonly onStage?: ((stage: ScanStage) => void) | undefined;
  /** Makes the scan call the tools of an MCP endpoint. Only the command line sets it. */
  readonly mcp?: McpOptions | undefined;
  readonly census?: CensusInstructions | undefined;
};

/** The answers at fixed paths, and what the indexes answered about the origin. */
type Documents = Omit<FixedPaths, 'openapiAlternates'> &
  Pick<Observations, 'origin' | 'x402scan' | 'listing' | 'openapiAlternates'>;

/** Sends the first wave, and asks the indexes. */
export async function gatherDocuments(scan: GatheringScan): Promise<Documents> {
  const { origin, cache, standing, clients, onStage } = scan;
  // The clients' thread loads while the first documents are requested. It ends if nothing is sold.
  clients?.start();
  onStage?.('documents');
  const [fixed, indexes] = await Promise.all([askFixedPaths(cache), standing.origin(origin)]);
  const openapiAlternates = await readYaml(fixed.openapiAlternates, scan.work);
  return { origin, ...fixed, openapiAlternates, ...indexes };
}

/** Adds the JSON of YAML documents. Reading YAML has a budget of its own, so that the checks keep theirs. */
async function readYaml(
  alternates: readonly OpenApiAnswer[],
  { pool, signal, deadline }: ScanWork,
): Promise<readonly OpenApiAnswer[]> {
  if (!alternates.some(isYamlDocument)) return alternates;
  const work = { pool, account: pool.openScan(), signal, deadline };
  return Promise.all(
    alternates.map(async (alternate) => {
      if (!isYamlDocument(alternate)) return alternate;
      const { body } = alternate.answer.data;
      const result = await runOnWorker(work, 'origin', YAML, 'convertYaml', body);
      return { ...alternate, yaml: result.ok ? result.output : YAML_TOO_SLOW };
    }),
  );
}

function isYamlDocument(
  alternate: OpenApiAnswer,
): alternate is OpenApiAnswer & { readonly answer: AnswerObservation<HttpData> } {
  const { path, answer } = alternate;
  return isYamlPath(path) && answer.ok && answer.data.status === 200 && !answer.truncated;
}

type PlannedRequests = PlanResult & { readonly tools: ToolObservations | null };

/** Derives the further requests from the documents. With `mcp`, also calls the tools of an endpoint. */
export async function planRequests(
  documents: Documents,
  scan: GatheringScan,
): Promise<PlannedRequests> {
  const { origin, cache, work, mcp, census } = scan;
  const isReachable = Object.values(documents).some((member) => 'ok' in member && member.ok);
  const { robots, listing, ...firstWave } = documents;
  const documentPlan = await readPlan(firstWave, isReachable, work);
  const isCensus = census !== undefined && isReachable && documentPlan.planFailure === undefined;
  const planned = isCensus
    ? { plan: await planForCensus(documentPlan.plan, documents, census, work) }
    : documentPlan;
  if (mcp === undefined || !isReachable) return { ...planned, tools: null };
  const { ToolObserver } = await import('./observe-tools.ts');
  const tools = await new ToolObserver(origin, cache, work).observe(documents, mcp);
  return { ...planned, tools };
}

/** Sends the second wave, and asks third parties and the official clients about its challenges. */
export async function gatherPlanned(
  documents: Documents,
  { plan, planFailure, tools }: PlannedRequests,
  scan: GatheringScan,
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
  const [allProbed, allIcons, earlyAnswers] = await Promise.all([
    probeFurther(cache, probed, probing),
    askIconsByGet(cache, plan.icons, icons),
    // Most challenges are known by now, so third parties are asked while the last requests run.
    askAboutChallenges(addTools(toResourceSet(plan, probed), tools), scan),
  ]);
  const resources = addTools(toResourceSet(plan, allProbed), tools);
  const { payability, ...standings } = earlyAnswers;
  return {
    ...documents,
    probing: mcp === undefined ? probing : { ...probing, mcp: true },
    resources: planFailure === undefined ? resources : { ...resources, planFailure },
    links,
    icons: allIcons,
    ...(browser === null ? {} : { browser }),
    payability: hasSameFirstAnswers(probed, allProbed)
      ? payability
      : await runClients(resources, scan),
    ...standings,
  };
}

/** Adds tools to the resources. Documents may list their endpoint; it is removed unless it answered 402. */
function addTools(resources: ResourceSet, tools: ToolObservations | null): ResourceSet {
  if (tools === null) return resources;
  const probed = resources.probed.filter(
    ({ path, probes }) =>
      path !== tools.endpoint ||
      probes.some(({ answer }) => answer.ok && answer.data.status === 402),
  );
  const droppedCount = resources.probed.length - probed.length;
  const isProbed = (path: string) => probed.some((resource) => resource.path === path);
  const added = tools.resources.filter(({ path }) => !isProbed(path));
  const repeatedCount = tools.resources.length - added.length;
  return {
    ...resources,
    probed: [...probed, ...added],
    declared: resources.declared - droppedCount + tools.declared - repeatedCount,
    looked: [...resources.looked, ...tools.looked],
    ...(tools.uncalled > 0 ? { uncalledTools: tools.uncalled } : {}),
  };
}

/** Asks third parties about recipients and offers, and runs the official clients. */
async function askAboutChallenges(
  resources: ResourceSet,
  { origin, standing, clients, work }: GatheringScan,
): Promise<Pick<Observations, 'settlements' | 'bazaar' | 'chain' | 'payability'>> {
  const { isOff = false, onChain } = standing;
  const needsChallenges = clients !== undefined || onChain !== undefined || !isOff;
  const challenges = needsChallenges ? await describeChallenges(resources, work) : NO_CHALLENGES;
  const payees = isOff ? [] : challenges.payees;
  const isSold = resources.probed.length > 0;
  const [settlements, chain, bazaar, payability] = await Promise.all([
    standing.settlements(origin, payees),
    challenges.chainOffers.length > 0 ? (onChain?.(challenges.chainOffers) ?? []) : [],
    isSold ? standing.listings?.(payees, origin) : undefined,
    clients?.tryChallenges(challenges.listed, work.signal) ?? null,
  ]);
  return {
    settlements,
    ...(chain.length === 0 ? {} : { chain }),
    ...(bazaar === undefined ? {} : { bazaar }),
    payability,
  };
}

/** Returns the official clients' verdicts; null if no client is run. */
async function runClients(
  resources: ResourceSet,
  { clients, work }: GatheringScan,
): Promise<Observations['payability']> {
  if (clients === undefined) return null;
  return clients.tryChallenges((await describeChallenges(resources, work)).listed, work.signal);
}
