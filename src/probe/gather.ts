/**
 * All I/O of a scan, once: root, fixed paths, then what they name, then what those answers ask for.
 * Four dependent round trips however many requests there are. The result is judged, never the origin.
 */

import type {
  Observations,
  OriginFacts,
  ProbingOptions,
  ResourceSet,
} from '../model/observations.ts';
import type { Payee, Standing } from '../model/standing.ts';
import type { Origin } from '../origin/origin.ts';
import { askIcons, settleIcons } from './ask-icons.ts';
import type { ProbeClient } from './client/client.ts';
import { RequestCache } from './client/request-cache.ts';
import { askFixedPaths, type FixedPaths } from './first-wave.ts';
import { followLinks } from './follow-links.ts';
import type { FirstWave, Plan } from './plan/plan.ts';
import { probeResources } from './probe-resources.ts';

/** Work on hostile documents, done elsewhere than on the thread that serves. */
export type Planner = {
  /** Null where the documents could not be read within limits of time and memory. */
  plan(seen: FirstWave): Promise<Plan | null>;
  payees(resources: ResourceSet): Promise<readonly Payee[]>;
};

export type GatherParts = {
  readonly client: Pick<ProbeClient, 'request'>;
  readonly planner: Planner;
  readonly standing: Standing;
  readonly probing: ProbingOptions;
  readonly onStage?: (stage: 'documents' | 'resources' | 'details') => void;
};

const EMPTY_PLAN: Plan = {
  resources: [],
  declared: 0,
  otherMethods: 0,
  looked: [],
  elsewhere: [],
  links: { links: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { paths: ['/favicon.ico'], otherHosts: [], inline: false },
};

export async function gather(origin: Origin, parts: GatherParts): Promise<Observations> {
  const cache = new RequestCache(parts.client, origin);
  parts.onStage?.('documents');
  const [fixed, { x402scan, listing }] = await Promise.all([
    askFixedPaths(cache),
    parts.standing.origin(origin),
  ]);
  const facts = factsOf(origin);
  const reachable = Object.values(fixed).some((seen) => 'ok' in seen && seen.ok);
  // Where nothing answered there is nothing to read, and no icon to ask for.
  const plan = reachable ? await parts.planner.plan({ origin: facts, ...fixed, x402scan }) : null;
  const { resources, links, icons, settlements } = await askPlanned(
    cache,
    origin,
    parts,
    plan ?? {
      ...EMPTY_PLAN,
      icons: reachable ? EMPTY_PLAN.icons : { ...EMPTY_PLAN.icons, paths: [] },
    },
  );
  return {
    origin: facts,
    probing: parts.probing,
    ...fixed,
    resources: reachable && plan === null ? { ...resources, planFailure: PLAN_FAILURE } : resources,
    links,
    icons,
    x402scan,
    settlements,
    listing,
  } satisfies Observations & FixedPaths;
}

const PLAN_FAILURE = 'the documents of this origin could not be read within limits';

async function askPlanned(
  cache: RequestCache,
  origin: Origin,
  { planner, standing, probing, onStage }: GatherParts,
  plan: Plan,
): Promise<Pick<Observations, 'resources' | 'links' | 'icons' | 'settlements'>> {
  onStage?.('resources');
  // Resources are asked for before links, so that links are what a spent budget cuts.
  const pendingResources = probeResources(cache, plan, probing);
  const pendingIcons = askIcons(cache, plan.icons);
  const [probed, icons, links] = await Promise.all([
    pendingResources,
    pendingIcons,
    followLinks(cache, plan.links),
  ]);
  onStage?.('details');
  const [resources, settledIcons, settlements] = await Promise.all([
    probed.further(),
    settleIcons(cache, plan.icons, icons),
    planner.payees(probed.first).then((payees) => standing.settlements(origin, payees)),
  ]);
  return { resources, links, icons: settledIcons, settlements };
}

function factsOf({ url, scheme, hostname, port, host }: Origin): OriginFacts {
  return { url, scheme, hostname, port, host };
}
