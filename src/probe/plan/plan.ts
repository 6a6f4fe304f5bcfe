/**
 * The plan of the second wave: which resources, links and icons to ask for, read off the documents
 * of the first. Pure; runs on a worker, because it parses what a hostile origin wrote.
 */

import { createKit } from '../../parse/kit/create-kit.ts';
import { chooseResources } from './choose-resources.ts';
import { findIcons, type IconPlan } from './find-icons.ts';
import { findLinks, type LinkPlan } from './find-links.ts';
import { findResources } from './find-resources.ts';
import type { FirstWave } from './first-wave.ts';
import type { PlannedResource } from './planned-resource.ts';

export type Plan = {
  readonly resources: readonly PlannedResource[];
  readonly declared: number;
  readonly otherMethods: number;
  readonly looked: readonly string[];
  /** Other origins that serve the paid operations of the OpenAPI document. */
  readonly elsewhere: readonly string[];
  readonly links: LinkPlan;
  readonly icons: IconPlan;
};

export function makePlan(seen: FirstWave): Plan {
  const kit = createKit();
  const found = findResources(seen, kit);
  return {
    resources: chooseResources(found.resources),
    declared: found.resources.filter((resource) => resource.declaredPaid).length,
    otherMethods: found.otherMethods,
    looked: found.looked,
    elsewhere: found.elsewhere,
    links: findLinks(seen, kit),
    icons: findIcons(seen, kit),
  };
}
