import type { AskSeller } from '../directory/preflight-desk.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { Judges } from '../preflight/judge-challenge.ts';
import { preflightForStranger } from '../preflight/preflight.ts';
import type { CreateProbeClient } from '../probe/client/client.ts';

export type AskSellerOptions = {
  readonly judges: Judges;
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly createClient: CreateProbeClient;
  /** Boots what asks, where it rests: that takes no time of the seller's. Default: it is there. */
  readonly ready?: () => Promise<void>;
  /** For the look-up of the name, and then for the answer; default 1,000. */
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
