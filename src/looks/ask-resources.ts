import { Saturated } from '../errors/errors.ts';
import type { Origin } from '../guard/origin.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import type { HttpData, Observation } from '../model/observation.ts';
import type { PayableBy } from '../model/payability.ts';
import type { PreflightEngine } from '../preflight/judge-challenge.ts';
import { preflightUrl } from '../preflight/preflight.ts';
import type { Preflight, PreflightOffer } from '../preflight/result.ts';
import type {
  CreateProbeClient,
  ProbeClient,
  ProbeClientOptions,
  ProbeRequest,
} from '../probe/client/client.ts';

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
      readonly schemaOutcome: string | null;
    };

/**
 * Asks the resources one after the other, until one answers 429 or `admit` allows no further request. Rejects if the
 * fault is ours. Throws Saturated if `admit` allows no request at all.
 */
export type AskResources = (
  origin: Origin,
  resources: readonly WatchedResource[],
  admit: AdmitAddresses,
) => Promise<ResourceAnswers>;

export type ResourceAnswers = {
  readonly answers: readonly ResourceAnswer[];
  /** Processor time of the TLS handshakes. */
  readonly handshakeMs: number;
};

export type AskResourcesOptions = {
  readonly engine: PreflightEngine;
  readonly createClient: CreateProbeClient;
} & Pick<ProbeClientOptions, 'policy' | 'userAgent'>;

const TIMEOUT_MS = 10_000;
export const TOO_MANY_REQUESTS = 429;

export function createAskResources(options: AskResourcesOptions): AskResources {
  const { engine, createClient, ...clientOptions } = options;
  return async (origin, resources, admit) => {
    const client = createClient(clientOptions);
    try {
      const answers: ResourceAnswer[] = [];
      const resolved = await client.resolveOrigin(origin);
      if (resolved.kind === 'our-fault') return { answers: toUnknown(resources), handshakeMs: 0 };
      for (const resource of resources) {
        const isAdmitted = resolved.kind !== 'addresses' || (await admit(resolved.addresses));
        if (!isAdmitted && answers.length === 0) throw new Saturated();
        if (!isAdmitted) break;
        const { observation, preflight } = await askResource(client, origin, resource, engine);
        if (observation?.ok && observation.data.status === TOO_MANY_REQUESTS) break;
        answers.push({ ...resource, ...toResourceVerdict(preflight) });
      }
      const remainingAnswers = toUnknown(resources.slice(answers.length));
      const { handshakeMs } = client.stats();
      return { answers: [...answers, ...remainingAnswers], handshakeMs };
    } finally {
      client.close();
    }
  };
}

function toUnknown(resources: readonly WatchedResource[]): readonly ResourceAnswer[] {
  return resources.map((resource) => ({ ...resource, kind: 'unknown' }));
}

/** Sends one request, and judges the answer as a preflight does. `observation` is null if no request was sent. */
export async function askResource(
  client: ProbeClient,
  origin: Origin,
  { method, path }: WatchedResource,
  engine: PreflightEngine,
  options: Partial<Pick<ProbeRequest, 'redirects'>> = {},
) {
  const sent: { observation: Observation<HttpData> | null } = { observation: null };
  const recordingClient: Pick<ProbeClient, 'resolveOrigin' | 'request'> = {
    resolveOrigin: (origin) => client.resolveOrigin(origin),
    async request(request) {
      sent.observation = await client.request({ ...request, ...options, timeoutMs: TIMEOUT_MS });
      return sent.observation;
    },
  };
  const request = { origin, method, path, maxPrice: null };
  const preflight = await preflightUrl(request, { ...engine, client: recordingClient });
  return { observation: sent.observation, preflight };
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
    schemaOutcome: invalidChallenge?.evidence.split(':', 1)[0] ?? null,
  };
}
