import type { HttpObservation, Observations } from '../model/observations.ts';

const NO_ANSWER: HttpObservation = { ok: false, reason: 'refused', detail: 'not asked', ms: 0 };
const OFF = { state: 'off', why: 'offline' } as const;

/** Observations of an origin that was not asked. Every member is present and empty. */
export const EMPTY_OBSERVATIONS: Observations = {
  origin: {
    url: 'https://not-asked.invalid',
    scheme: 'https',
    hostname: 'not-asked.invalid',
    port: 443,
    host: 'not-asked.invalid',
  },
  probing: { post: true },
  root: NO_ANSWER,
  soft404: NO_ANSWER,
  openapi: NO_ANSWER,
  openapiAlternates: [],
  manifest: NO_ANSWER,
  manifestJson: NO_ANSWER,
  llmsTxt: NO_ANSWER,
  agentCard: NO_ANSWER,
  agentJson: NO_ANSWER,
  robots: NO_ANSWER,
  resources: { probed: [], declared: 0, otherMethods: 0, looked: [] },
  links: { checked: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { checked: [], otherHosts: [], inline: false },
  payability: null,
  x402scan: OFF,
  settlements: OFF,
  listing: OFF,
};
