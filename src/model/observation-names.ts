/** Runtime list of the names allowed in `needs`; the compiler checks that it is complete. */
import type { ObservationName } from './observations.ts';

const NAMES: Readonly<Record<ObservationName, true>> = {
  origin: true,
  probing: true,
  root: true,
  soft404: true,
  openapi: true,
  openapiAlternates: true,
  manifest: true,
  manifestJson: true,
  llmsTxt: true,
  agentCard: true,
  agentJson: true,
  robots: true,
  resources: true,
  links: true,
  icons: true,
  payability: true,
  x402scan: true,
  settlements: true,
  listing: true,
  browser: true,
  bazaar: true,
  chain: true,
};

export const OBSERVATION_NAMES: readonly string[] = Object.freeze(Object.keys(NAMES));
