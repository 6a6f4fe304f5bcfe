import type { Clients } from '../clients/open-clients.ts';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { runChecks } from '../engine/run-checks.ts';
import type { Origin } from '../guard/origin.ts';
import type { HttpData } from '../model/observation.ts';
import type { ResourceObservation, ResourceSet, ToolFacts } from '../model/observations.ts';
import type { OtherWay, ResourcePayability } from '../model/payability.ts';
import type { Verdict } from '../model/verdict.ts';
import { runOnWorker, type ScanWork, type WorkModule } from '../scan/origin-work.ts';
import { EMPTY_OBSERVATIONS } from '../scan/scanner.ts';
import type { ReadAnswer, ReadTerms } from './read-terms.ts';

export type PreflightEngine = {
  readonly catalog: Pick<Catalog, 'checks' | 'checksVersion'>;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
  readonly clients: Clients;
};

/** The request that the challenge answered. */
type ChallengeRequest = {
  readonly origin: Origin;
  readonly method: 'GET' | 'POST';
  /** True for a call of an MCP tool, whose `resource.url` may be `mcp://tool/NAME`. */
  readonly isTool?: boolean;
};

export type ChallengeJudgement = {
  /** Null if the answer has no challenge. */
  readonly terms: ReadTerms | null;
  /** Says what the 402 has in place of a challenge; null if it has one, or if we know neither. */
  readonly misplaced: string | null;
  readonly otherWays: readonly OtherWay[];
  /** The verdicts of the official clients; null without terms. */
  readonly payability: ResourcePayability | null;
  /** The verdict of check P3; null without terms. */
  readonly schema: Verdict | null;
};

const SCHEMA_CHECK = 'P3';
/** Also the result if the worker exceeds its limits. */
const NOTHING_READ: ReadAnswer = { terms: null, others: [], misplaced: null };
type TermsModule = typeof import('./read-terms.ts');
export const TERMS: WorkModule<TermsModule> = new URL('./read-terms.ts', import.meta.url);
const CHALLENGES: WorkModule<typeof import('../clients/list-challenges.ts')> = new URL(
  '../clients/list-challenges.ts',
  import.meta.url,
);

/** Judges the challenge of one answer. Rejects if the fault is ours; after an abort, with the signal's reason. */
export async function judgeChallenge(
  request: ChallengeRequest,
  answer: HttpData,
  { catalog, checks, pool, clients }: PreflightEngine,
  signal?: AbortSignal,
): Promise<ChallengeJudgement> {
  const account = pool.openScan();
  const work: ScanWork = { pool, account, signal };
  const reading = await runOnWorker(work, 'origin', TERMS, 'readAnswer', answer);
  const { terms, others, misplaced }: ReadAnswer = reading.ok ? reading.output : NOTHING_READ;
  const { method } = request;
  const otherWays = others.map((other) => ({ method, path: toPath(answer), ...other }));
  if (terms === null) return { terms, misplaced, otherWays, payability: null, schema: null };

  const resources = toResourceSet(request, answer);
  const listing = await runOnWorker(work, 'origin', CHALLENGES, 'listChallenges', resources);
  const challenges = listing.ok ? listing.output : { challenged: [], silent: [] };
  const payability = await clients.tryChallenges(challenges, signal);
  const [schemaResult] = await runChecks({
    catalog: { ...catalog, checks: catalog.checks.filter(({ id }) => id === SCHEMA_CHECK) },
    checks,
    observations: { ...EMPTY_OBSERVATIONS, origin: request.origin, resources, payability },
    pool,
    account,
    signal,
  });
  return {
    terms,
    misplaced,
    otherWays,
    payability: payability.resources[0] ?? null,
    schema: schemaResult?.verdict ?? null,
  };
}

/** The tool of a challenge that the caller supplied. The caller's client read it, so that client has the extension. */
const CALLER_TOOL: ToolFacts = {
  name: '',
  endpoint: '/',
  binding: 'extension',
  isError: null,
  extension: 'client',
  price: null,
};

function toResourceSet(
  { origin, method, isTool = false }: ChallengeRequest,
  answer: HttpData,
): ResourceSet {
  const path = toPath(answer);
  const resource: ResourceObservation = {
    url: `${origin.url}${path}`,
    path,
    template: path,
    method,
    sources: ['undeclared'],
    declaredPaid: true,
    ...(isTool ? { tool: CALLER_TOOL } : {}),
    probes: [{ method, number: 1, answer: { ok: true, data: answer, ms: 0, truncated: false } }],
  };
  return { probed: [resource], declared: 1, otherMethods: 0, looked: [] };
}

function toPath({ url }: HttpData): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
