/** The one request of a preflight, on the thread that asks origins, judged by the engine of the scans. */
import type { AskSeller } from '../directory/preflight-desk.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { Judges } from '../preflight/judge-challenge.ts';
import { preflightUrl } from '../preflight/preflight.ts';
import type { CreateProbeClient } from '../probe/client/client.ts';

export type AskSellerOptions = {
  readonly judges: Judges;
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly createClient: CreateProbeClient;
  /** Boots what asks, where it rests: that takes no time of the seller's. Default: it is there. */
  readonly ready?: () => Promise<void>;
  /** From the moment on at which it can be asked; default 1,000. */
  readonly answerWithinMs?: number;
};

export function createAskSeller(options: AskSellerOptions): AskSeller {
  const { judges, policy, userAgent, createClient, answerWithinMs = 1_000 } = options;
  return async (asked) => {
    judges.pool.start();
    await options.ready?.();
    const deadline = AbortSignal.timeout(answerWithinMs);
    const client = createClient({ policy, userAgent, signal: deadline });
    try {
      return await preflightUrl(asked, {
        ...judges,
        client,
        deadline,
        mayPost: false,
        mayFollow: false,
      });
    } finally {
      client.close();
    }
  };
}
