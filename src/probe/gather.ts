/**
 * The requests of a scan, in waves: root, fixed paths, then what they name, then what those answers
 * ask for.
 */

import type { Origin } from '../guard/origin.ts';
import type { Observations, OriginFacts, ProbingOptions } from '../model/observations.ts';
import type { Standing } from '../model/standing.ts';
import type { RequestCache } from './client/request-cache.ts';
import { askFixedPaths, type FixedPaths } from './first-wave.ts';
import type { Plan } from './plan/plan.ts';
import { probeResources } from './probe-resources.ts';
import { askAsBrowser, askIcons, followLinks, settleIcons } from './second-wave.ts';

export type FirstAnswers = FixedPaths & Pick<Observations, 'origin' | 'x402scan' | 'listing'>;

export type SecondOptions = { readonly probing: ProbingOptions; readonly userAgent: string };

export type SecondAnswers = Pick<Observations, 'resources' | 'links' | 'browser'> & {
  /** Sends the requests that follow from these answers. */
  details(): Promise<Pick<Observations, 'resources' | 'icons'>>;
};

/** The plan for an origin whose documents say nothing, or could not be read: icons where browsers look. */
export const EMPTY_PLAN: Plan = {
  resources: [],
  declared: 0,
  otherMethods: 0,
  elsewhere: [],
  looked: [],
  links: { links: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { paths: ['/favicon.ico'], otherHosts: [], inline: false },
};

/** The plan for an origin that did not answer: no icon either. */
export const SILENT_PLAN: Plan = { ...EMPTY_PLAN, icons: { ...EMPTY_PLAN.icons, paths: [] } };

/** Root and fixed paths; third parties are asked beside them. */
export async function firstWave(
  cache: RequestCache,
  origin: Origin,
  standing: Pick<Standing, 'origin'>,
): Promise<FirstAnswers> {
  const [fixed, { x402scan, listing }] = await Promise.all([
    askFixedPaths(cache),
    standing.origin(origin),
  ]);
  return { origin: factsOf(origin), ...fixed, x402scan, listing };
}

/** True where any request was answered. */
export function isReachable(first: FirstAnswers): boolean {
  return Object.values(first).some((seen) => 'ok' in seen && seen.ok);
}

/** Requests what the plan names. Resources come before links, so that a spent budget cuts links first. */
export async function secondWave(
  cache: RequestCache,
  plan: Plan,
  { probing, userAgent }: SecondOptions,
): Promise<SecondAnswers> {
  const pendingResources = probeResources(cache, plan, probing);
  const pendingIcons = askIcons(cache, plan.icons);
  const pendingBrowser = askAsBrowser(cache, plan.resources, userAgent);
  const [probed, icons, browser, links] = await Promise.all([
    pendingResources,
    pendingIcons,
    pendingBrowser,
    followLinks(cache, plan.links),
  ]);
  return {
    resources: probed.first,
    links,
    ...(browser === null ? {} : { browser }),
    async details() {
      const [resources, settled] = await Promise.all([
        probed.further(),
        settleIcons(cache, plan.icons, icons),
      ]);
      return { resources, icons: settled };
    },
  };
}

function factsOf({ url, scheme, hostname, port, host }: Origin): OriginFacts {
  return { url, scheme, hostname, port, host };
}
