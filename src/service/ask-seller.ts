import type { OriginPolicy } from '../guard/origin.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import type { AskHost, AskSeller } from '../limits/run-preflight.ts';
import type { Judges } from '../preflight/judge-challenge.ts';
import { preflightForStranger, type StrangersOptions } from '../preflight/preflight.ts';
import type { CreateProbeClient } from '../probe/client/client.ts';

export type AskSellerOptions = {
  readonly judges: Judges;
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly createClient: CreateProbeClient;
  /** Starts the prober's thread before the seller's time runs; default: already running. */
  readonly ready?: () => Promise<void>;
  /** Limit for the name lookup, and again for the answer, ms; default 1,000. */
  readonly answerWithinMs?: number;
};

/** Asks the one URL that the caller names. */
export function createAskSeller(options: AskSellerOptions): AskSeller {
  return (asked, admit) =>
    withClient(options, admit, async (strangers) => ({
      preflight: await preflightForStranger(asked, strangers),
    }));
}

/** Asks the documents of a host, and the first address in them that sells by GET. */
export function createAskHost(options: AskSellerOptions): AskHost {
  return (origin, admit) =>
    withClient(options, admit, async (strangers) => {
      // Loaded with the first host: most callers name a URL.
      const { preflightHost } = await import('../preflight/preflight-host.ts');
      return preflightHost(origin, strangers);
    });
}

async function withClient<Answer extends object>(
  options: AskSellerOptions,
  admit: AdmitAddresses,
  ask: (strangers: StrangersOptions) => Promise<Answer>,
): Promise<Answer & { readonly handshakeMs: number }> {
  const { judges, policy, userAgent, createClient, answerWithinMs = 1_000 } = options;
  judges.pool.start();
  await options.ready?.();
  const client = createClient({ policy, userAgent });
  try {
    const answer = await ask({ ...judges, client, answerWithinMs, admit });
    return { ...answer, handshakeMs: client.stats().handshakeMs };
  } finally {
    client.close();
  }
}
