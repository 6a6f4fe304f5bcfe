import type { DocumentedOperation } from '../../../plugins/offers.ts';
import type { Config } from '../../config/config.ts';
import { CAP_POINTS, GRADES, POINTS, WEIGHTS } from '../../engine/score.ts';

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
export type ServiceFacts = Readonly<ReturnType<typeof toServiceFacts>>;

export function toServiceFacts(
  { baseUrl, siteUrl, revision, payment }: Config,
  checksVersion: string,
  operations: readonly DocumentedOperation[],
) {
  return {
    baseUrl,
    siteUrl,
    version: revision.name,
    checksVersion,
    network: payment.network,
    payTo: payment.payTo,
    /** False in mock mode: signatures are verified, and nothing is settled. */
    isLive: payment.mode !== 'mock',
    /** True if `/mcp` is served; its tools are not operations of the API. */
    hasMcp: revision.offers.mcp !== undefined,
    /** True if answers tell of the census. */
    showsCensus: revision.showsCensus,
    operations,
  };
}

/** The operations without the documents themselves. */
export function apiOperations({ operations }: ServiceFacts): readonly DocumentedOperation[] {
  return operations.filter(({ tag }) => tag !== DOCUMENTS_TAG);
}

export const DOCUMENTS_TAG = 'documents';

const grades = GRADES.map(([grade, from]) => `${grade} from ${from}`).join(', ');

export const SCORE_NOTE =
  `scoring@1, integers throughout. Points by severity: critical ${POINTS.critical}, major ${POINTS.major}, minor ${POINTS.minor}; a pass earns all, a warn half, a fail none; ` +
  'results whose basis is not_determined are left out. Sub-score of a category = floor(100 * earned / possible). ' +
  `Score = floor of the weighted mean of the sub-scores, Protocol ${WEIGHTS.protocol}, Docs ${WEIGHTS.docs}, Standing ${WEIGHTS.directory}; a category with nothing determined drops out. ` +
  `Caps: any critical fail ${CAP_POINTS.criticalFail} at most, P1 fail ${CAP_POINTS.unreachable}, payableBy nobody ${CAP_POINTS.unpayable} at most; otherwise any critical warn or major fail of Protocol ${CAP_POINTS.flawed} at most. ` +
  `Grades: ${grades}, F below. Standing depends on third parties and moves a grade by one letter at most.`;

export const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" role="img" aria-label="x402 Conformance Scanner"><path fill="#0b5fff" d="M16 1 29 6v9c0 8-5 14-13 16C8 29 3 23 3 15V6z"/><path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="m9 16 5 5 9-10"/></svg>
`;
