import type { Observations } from '../../model/observations.ts';

/** Observations of the fixed paths and of the index, from which the plan is made. */
export const FIRST_WAVE = [
  'origin',
  'root',
  'soft404',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'llmsTxt',
  'agentCard',
  'agentJson',
  'x402scan',
] as const;

export type FirstWave = Pick<Observations, (typeof FIRST_WAVE)[number]>;
