import type { AskSeller } from '../directory/run-preflight.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { Judges } from '../preflight/judge-challenge.ts';
import { preflightForStranger } from '../preflight/preflight.ts';
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

export function createAskSeller(options: AskSellerOptions): AskSeller {
  const { judges, policy, userAgent, createClient, answerWithinMs = 1_000 } = options;
  return async (asked, admit) => {
    judges.pool.start();
    await options.ready?.();
    const client = createClient({ policy, userAgent });
    try {
      const options = { ...judges, client, answerWithinMs, admit };
      const preflight = await preflightForStranger(asked, options);
      return { preflight, handshakeMs: client.stats().handshakeMs };
    } finally {
      client.close();
    }
  };
}
