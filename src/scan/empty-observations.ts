import type { HttpObservation, Observations } from '../model/observations.ts';

const SILENT: HttpObservation = {
  ok: false,
  reason: 'refused',
  detail: 'nobody was asked',
  ms: 0,
};
const OFF = { state: 'off', why: 'offline' } as const;

/** A silent origin: every observation is present and empty. */
export const EMPTY_OBSERVATIONS: Observations = {
  origin: {
    url: 'https://warm-up.invalid',
    scheme: 'https',
    hostname: 'warm-up.invalid',
    port: 443,
    host: 'warm-up.invalid',
  },
  probing: { post: true },
  root: SILENT,
  soft404: SILENT,
  openapi: SILENT,
  openapiAlternates: [],
  manifest: SILENT,
  manifestJson: SILENT,
  llmsTxt: SILENT,
  agentCard: SILENT,
  agentJson: SILENT,
  robots: SILENT,
  resources: { probed: [], declared: 0, otherMethods: 0, looked: [] },
  links: { checked: [], found: 0, otherHosts: 0, documents: 0 },
  icons: { checked: [], otherHosts: [], inline: false },
  payability: null,
  x402scan: OFF,
  settlements: OFF,
  listing: OFF,
};
