import { priceUsd } from './payment-info.ts';
import { apiOperations, PATHS, SERVICE_NAME, type ServiceFacts, SUMMARY } from './service-facts.ts';

/** The A2A version whose required fields the card has beside those of interface spec 2.9. */
const A2A_VERSION = '0.3.0';

/** Skills and the operations behind them. */
const SKILLS = [
  { id: 'scan', name: 'Scan an x402 origin', tags: ['x402', 'conformance', 'scan', 'grade'] },
  { id: 'report', name: 'Read the report of an x402 origin', tags: ['x402', 'report', 'grade'] },
] as const;

/** `/.well-known/agent-card.json`. */
export function agentCard(facts: ServiceFacts) {
  const { baseUrl, siteUrl, version, network } = facts;
  const operations = apiOperations(facts);
  const skills = SKILLS.flatMap(({ id, name, tags }) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (operation === undefined) return [];
    const { description, offer } = operation;
    return [{ id, name, description, priceUsd: priceUsd(offer), tags }];
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
      priceUsd: priceUsd(offer),
    })),
    x402: { version: 2, networks: [network], assets: ['USDC'] },
    skills,
    authentication: {
      schemes: ['none', 'x402'],
      description:
        'Free operations need no credentials. Paid operations answer 402 with an x402 V2 challenge; pay per call, no accounts and no keys.',
    },
    documentationUrl: `${baseUrl}${PATHS.llms}`,
    openApiUrl: `${baseUrl}${PATHS.openapi}`,
    termsOfService: `${baseUrl}${PATHS.terms}`,
  };
}
