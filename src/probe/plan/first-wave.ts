/** What the plan is made of: the observations of the fixed paths and of the index. */
import type { Observations } from '../../model/observations.ts';

/** What the first wave saw. */
export type FirstWave = Pick<
  Observations,
  | 'origin'
  | 'root'
  | 'soft404'
  | 'openapi'
  | 'openapiAlternates'
  | 'manifest'
  | 'manifestJson'
  | 'llmsTxt'
  | 'agentCard'
  | 'agentJson'
  | 'x402scan'
>;
