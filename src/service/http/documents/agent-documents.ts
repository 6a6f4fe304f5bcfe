import { type DocumentedOperation, formatPrice, toPriceUsd } from '../../../../plugins/offers.ts';
import {
  listApiOperations,
  PATHS,
  SERVICE_NAME,
  type ServiceFacts,
  SUMMARY,
} from './service-facts.ts';

/** Makes `/.well-known/x402`: the paid operations and the recipient of the payments. */
export function toPaymentManifest(facts: ServiceFacts) {
  const { baseUrl, network, payTo } = facts;
  const endpoints = facts.operations.flatMap(({ method, path, offer, description }) => {
    if (offer.kind === 'free') return [];
    const resource = `${baseUrl}${path}`;
    const price = formatPrice(offer);
    return [{ resource, method, scheme: 'exact', networks: [network], price, description }];
  });
  return {
    x402Version: 2,
    endpoints,
    asset: 'USDC',
    networks: [network],
    payTo,
    terms: `${baseUrl}${PATHS.terms}`,
    instructions:
      'Call an endpoint without payment to get its 402 challenge, sign an exact-scheme USDC authorization for one entry of accepts, and repeat the request with the header PAYMENT-SIGNATURE (or X-PAYMENT). Only a 200 is charged.',
  };
}

/** The agent card has all fields that this version of the A2A protocol requires, and further fields of ours. */
const A2A_VERSION = '0.3.0';

/** Each skill has the id of an operation. */
const SKILLS = [
  { id: 'scan', name: 'Scan an x402 origin', tags: ['x402', 'conformance', 'scan', 'grade'] },
  { id: 'report', name: 'Read the report of an x402 origin', tags: ['x402', 'report', 'grade'] },
] as const;

/** Makes `/.well-known/agent-card.json`. */
export function toAgentCard(facts: ServiceFacts) {
  const { baseUrl, siteUrl, version, network } = facts;
  const operations = listApiOperations(facts);
  const skills = SKILLS.flatMap(({ id, name, tags }) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (operation === undefined) return [];
    const { description, offer } = operation;
    return [{ id, name, description, priceUsd: toPriceUsd(offer), tags }];
  });
  return {
    protocolVersion: A2A_VERSION,
    name: SERVICE_NAME,
    description: SUMMARY,
    url: baseUrl,
    preferredTransport: 'HTTP+JSON',
    provider: { organization: SERVICE_NAME, url: siteUrl },
    version,
    capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    endpoints: operations.map(({ method, path, offer }) => ({
      method,
      url: `${baseUrl}${path}`,
      priceUsd: toPriceUsd(offer),
    })),
    x402: { version: 2, networks: [network], assets: ['USDC'] },
    skills,
    authentication: {
      schemes: ['none', 'x402'],
      description:
        'Free operations need no credentials. Paid operations answer 402 with an x402 V2 challenge. Each call is paid for by itself, without an account or a key.',
    },
    documentationUrl: `${baseUrl}${PATHS.llms}`,
    openApiUrl: `${baseUrl}${PATHS.openapi}`,
    termsOfService: `${baseUrl}${PATHS.terms}`,
  };
}

/** Makes `/discovery`: every operation, the payment and the documents, in one JSON object. */
export function toServiceDescription(facts: ServiceFacts) {
  const { baseUrl, siteUrl, version, network, operations } = facts;
  const toUrl = (path: string) => `${baseUrl}${path}`;
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
      manifest: toUrl(PATHS.manifest),
    },
    links: {
      docs: toUrl(PATHS.llms),
      docsFull: toUrl(PATHS.llmsFull),
      openapi: toUrl(PATHS.openapi),
      agentCard: toUrl(PATHS.agentCard),
      x402: toUrl(PATHS.manifest),
      terms: toUrl(PATHS.terms),
      website: siteUrl,
    },
  };
}

function toEndpoint({ method, path, parameters, offer, description }: DocumentedOperation) {
  return { method, path, params: parameters, priceUsd: toPriceUsd(offer), description };
}
