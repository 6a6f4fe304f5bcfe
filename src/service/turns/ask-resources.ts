import type { Origin } from '../../scanner/guard/origin.ts';
import type { HttpData, Observation } from '../../scanner/model/observation.ts';
import type { PayableBy } from '../../scanner/model/payability.ts';
import type { PreflightEngine } from '../../scanner/preflight/judge-challenge.ts';
import { preflightUrl } from '../../scanner/preflight/preflight.ts';
import type { Preflight, PreflightOffer } from '../../scanner/preflight/result.ts';
import type { ProbeRequest } from '../../scanner/probe/client/client.ts';
import { unlessLimited } from './in-turn.ts';
import type { TurnClient } from './origin-turns.ts';

export type WatchedResource = { readonly method: string; readonly path: string };

/** The present answer of a resource that gave a challenge earlier. */
export type ResourceAnswer = WatchedResource & ResourceVerdict;

/** `unknown`: the answer proves nothing. */
type ResourceVerdict =
  | { readonly kind: 'unknown' | 'unreachable' }
  | {
      readonly kind: 'answered';
      readonly payableBy: PayableBy;
      /** Empty when the answer is not a challenge. */
      readonly offers: readonly PreflightOffer[];
      /** The outcome of check P3 if it fails; otherwise null. */
      readonly p3Failure: string | null;
    };

/**
 * Asks the resources one after the other, until one answers 429 or a limit forbids a further request. Rejects if the
 * fault is ours. Throws LimitReached if a limit forbids the first request.
 */
export type AskResources = (
  origin: Origin,
  resources: readonly WatchedResource[],
  client: TurnClient,
) => Promise<readonly ResourceAnswer[]>;

const TIMEOUT_MS = 10_000;

export function createAskResources(engine: PreflightEngine): AskResources {
  return async (origin, resources, client) => {
    const answers: ResourceAnswer[] = [];
    for (const resource of resources) {
      const asking = askResource(client, origin, resource, engine);
      const resourceAnswer = await (answers.length === 0 ? asking : unlessLimited(asking));
      if (resourceAnswer === null) break;
      const { observation, preflight } = resourceAnswer;
      if (observation?.ok && observation.data.status === 429) break;
      answers.push({ ...resource, ...toResourceVerdict(preflight) });
    }
    const notAsked = resources.slice(answers.length);
    return [...answers, ...notAsked.map((resource) => ({ ...resource, kind: 'unknown' as const }))];
  };
}

/** Sends one request, and judges the answer as a preflight does. `observation` is null if no request was sent. */
export async function askResource(
  client: TurnClient,
  origin: Origin,
  { method, path }: WatchedResource,
  engine: PreflightEngine,
  options: Partial<Pick<ProbeRequest, 'redirects'>> = {},
) {
  const exchange: { observation: Observation<HttpData> | null } = { observation: null };
  const observedClient: Pick<TurnClient, 'resolveOrigin' | 'request'> = {
    resolveOrigin: (origin) => client.resolveOrigin(origin),
    async request(request) {
      exchange.observation = await client.request({
        ...request,
        ...options,
        timeoutMs: TIMEOUT_MS,
      });
      return exchange.observation;
    },
  };
  const request = { origin, method, path, maxPrice: null };
  const preflight = await preflightUrl(request, { ...engine, client: observedClient });
  return { observation: exchange.observation, preflight };
}

function toResourceVerdict({ reasons, terms }: Preflight): ResourceVerdict {
  const codes = new Set(reasons.map(({ code }) => code));
  if (codes.has('not_asked') || codes.has('not_judged')) return { kind: 'unknown' };
  if (codes.has('unreachable') || codes.has('no_answer') || codes.has('refused')) {
    return { kind: 'unreachable' };
  }
  // The evidence of this reason begins with the outcome of check P3.
  const invalidChallenge = reasons.find(({ code }) => code === 'invalid_challenge');
  return {
    kind: 'answered',
    payableBy: terms?.payableBy ?? 'nobody',
    offers: terms?.offers ?? [],
    p3Failure: invalidChallenge?.evidence.split(':', 1)[0] ?? null,
  };
}
