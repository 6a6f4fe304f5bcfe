import type { Operation } from './operation.ts';

export const SERVICE_NAME = 'x402 Conformance Scanner';

export const SUMMARY =
  'Grades x402 seller origins A to F on 25 published conformance checks, with evidence and a one-line fix for each.';

/** The paths of our own documents, which refer to one another. */
export const PATHS = {
  discovery: '/discovery',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  llmsFull: '/llms-full.txt',
  manifest: '/.well-known/x402',
  agentCard: '/.well-known/agent-card.json',
  keys: '/.well-known/jwks.json',
  terms: '/terms.txt',
  termsJson: '/terms.json',
  mcp: '/mcp',
} as const;

/** The facts that the discovery documents state. */
export type ServiceFacts = {
  /** `baseUrl` and `siteUrl` have no trailing slash. */
  readonly baseUrl: string;
  readonly siteUrl: string;
  /** Version of the API revision. */
  readonly version: string;
  readonly checksVersion: string;
  /** CAIP-2. */
  readonly network: string;
  readonly payTo: string;
  /** False in mock mode: signatures are verified, and nothing is settled. */
  readonly isLive: boolean;
  /** True where `/mcp` is served; its tools are not operations of the API. */
  readonly hasMcp: boolean;
  readonly operations: readonly Operation[];
};

/** The operations without the documents themselves. */
export function apiOperations({ operations }: ServiceFacts): readonly Operation[] {
  return operations.filter(({ tag }) => tag !== DOCUMENTS_TAG);
}

export const DOCUMENTS_TAG = 'documents';
