/** The prober's reading of hostile documents, away from the thread that serves. */
import type { Pool } from '../engine/pool/pool.ts';
import type { Planner } from '../probe/gather.ts';
import { findPayees } from '../probe/plan/payees.ts';
import { makePlan } from '../probe/plan/plan.ts';
import { workOn } from './origin-work.ts';

const PLAN_MODULE = new URL('../probe/plan/plan.ts', import.meta.url);
const PAYEES_MODULE = new URL('../probe/plan/payees.ts', import.meta.url);

export function createPlanner(pool: Pool): Planner {
  return {
    plan: (seen) => workOn(pool, PLAN_MODULE, makePlan, seen),
    payees: async (resources) => (await workOn(pool, PAYEES_MODULE, findPayees, resources)) ?? [],
  };
}
