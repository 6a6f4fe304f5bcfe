import type { Operation } from './operation.ts';
import { priceUsd } from './payment-info.ts';
import { PATHS, SERVICE_NAME, type ServiceFacts, SUMMARY } from './service-facts.ts';

/** `/discovery`: everything that can be called, in one JSON (interface spec 2.9). */
export function serviceDescription(facts: ServiceFacts) {
  const { baseUrl, siteUrl, version, network, operations } = facts;
  const link = (path: string) => `${baseUrl}${path}`;
  return {
    service: SERVICE_NAME,
    version,
    baseUrl,
    product: SUMMARY,
    endpoints: {
      free: operations.filter(({ offer }) => offer.kind === 'free').map(toEndpoint),
      paid: operations.filter(({ offer }) => offer.kind === 'paid').map(toEndpoint),
    },
    payment: {
      protocol: 'x402',
      version: 2,
      scheme: 'exact',
      networks: [network],
      asset: 'USDC',
      model: 'per-call: no bundles, subscriptions or entitlements',
      manifest: link(PATHS.manifest),
    },
    links: {
      docs: link(PATHS.llms),
      docsFull: link(PATHS.llmsFull),
      openapi: link(PATHS.openapi),
      agentCard: link(PATHS.agentCard),
      x402: link(PATHS.manifest),
      terms: link(PATHS.terms),
      website: siteUrl,
    },
  };
}

function toEndpoint({ method, path, parameters, offer, description }: Operation) {
  return { method, path, params: parameters, priceUsd: priceUsd(offer), description };
}
