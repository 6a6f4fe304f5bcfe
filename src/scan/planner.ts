/** The prober's pure work on origin documents, done on the pool of killable workers. */
import type { CheckPool } from '../engine/pool.ts';
import type { Planner } from '../probe/gather.ts';
import type { Plan } from '../probe/plan/plan.ts';
import type { Payee } from '../probe/standing.ts';

const PLAN_MODULE = new URL('../probe/plan/plan.ts', import.meta.url).href;
const PAYEES_MODULE = new URL('../probe/plan/payees.ts', import.meta.url).href;

export function createPlanner(pool: CheckPool): Planner {
  return {
    plan: async (seen) => {
      const task = { module: PLAN_MODULE, exportName: 'makePlan', input: seen };
      const done = await pool.run<Plan>(task);
      return done.ok ? done.value : null;
    },
    payees: async (resources) => {
      const task = { module: PAYEES_MODULE, exportName: 'findPayees', input: resources };
      const done = await pool.run<readonly Payee[]>(task);
      return done.ok ? done.value : [];
    },
  };
}
