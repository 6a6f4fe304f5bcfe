import type { FastifyBaseLogger } from 'fastify';
import { createOracle } from '../buyers/create-oracle.ts';
import { type AskListed, createAskListed } from '../census/ask-listed.ts';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { createPool } from '../engine/judging-pool.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { JudgeInHand } from '../http/routes/mcp.ts';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import type { AskHost, AskSeller } from '../limits/run-preflight.ts';
import { type AskResources, createAskResources } from '../looks/ask-resources.ts';
import type { ResolveOrigin } from '../looks/in-turn.ts';
import type { Standing } from '../model/standing.ts';
import { createTokenFetcher, type FetchToken } from '../ownership/ownership-token.ts';
import type { PreflightEngine } from '../preflight/judge-challenge.ts';
import {
  preflightForStranger,
  preflightInHand,
  type StrangersOptions,
} from '../preflight/preflight.ts';
import type { CreateProbeClient } from '../probe/client/client.ts';
import { openProbeThread } from '../probe/client/probe-thread.ts';
import { createScanner } from '../scan/run-scan.ts';
import type { Scanner } from '../scan/scanner.ts';
import { warmPool } from '../scan/warm-up.ts';
import type { PostWebhook } from '../watch/deliveries.ts';
import { createPostWebhook } from '../watch/post-webhook.ts';
import { threadEnvironment } from '../workers/threads.ts';

export type ScanningOptions = {
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly standing: Standing;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'fatal'>;
};

export type Scanning = {
  /** Closing it closes all the others. */
  readonly scanner: Scanner;
  readonly fetchToken: FetchToken;
  readonly judgeInHand: JudgeInHand;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  readonly askResources: AskResources;
  readonly resolve: ResolveOrigin;
  readonly postWebhook: PostWebhook;
  /** The parts of a census, which asks under a name of its own. */
  readonly openCensus: (options: CensusScanningOptions) => CensusScanning;
};

export type CensusScanningOptions = {
  readonly userAgent: string;
  readonly standing: Standing;
};

export type CensusScanning = {
  readonly askListed: AskListed;
  readonly scanner: Pick<Scanner, 'scan'>;
};

/** Starts no thread; the first scan does. */
export function createScanning(options: ScanningOptions): Scanning {
  const { policy, userAgent, catalog, checks, standing, log } = options;
  const cold = createPool({ onError: (err) => log.error({ err }, 'error of a worker') });
  let fault: string | null = null;
  const pool = warmPool({ catalog, checks, pool: cold }, (broken) => {
    fault = broken.message;
    log.fatal(`no scan of this process can be sold: ${broken.message}`);
  });
  const probe = openProbeThread({
    onError: (message, err) => log.error({ err }, message),
    environment: threadEnvironment(),
  });
  const { createClient, isSaturated } = probe;
  const oracle = createOracle({ scale: cold.scale, onError: (message) => log.error(message) });
  const engine = { catalog, checks, pool, oracle };
  const outbound = { policy, userAgent, createClient };
  const asking = { engine, ...outbound, ready: () => probe.ready() };
  const scanner = createScanner({ ...engine, ...outbound, standing, isSaturated });
  return {
    scanner: {
      ...scanner,
      fault: () => fault,
      async close() {
        await scanner.close();
        await probe.close();
        await cold.close();
      },
    },
    fetchToken: createTokenFetcher(outbound),
    judgeInHand: (challenge, url) => preflightInHand(challenge, url, { maxPrice: null }, engine),
    askSeller: createAskSeller(asking),
    askHost: createAskHost(asking),
    askResources: createAskResources({ engine, ...outbound }),
    async resolve(origin) {
      const client = createClient(outbound);
      try {
        return await client.check(origin);
      } finally {
        client.close();
      }
    },
    postWebhook: createPostWebhook(outbound),
    openCensus: ({ userAgent: name, standing: rare }) => ({
      askListed: createAskListed({ engine, ...outbound, userAgent: name }),
      scanner: createScanner({ ...engine, ...outbound, userAgent: name, standing: rare }),
    }),
  };
}

export type AskSellerOptions = {
  readonly engine: PreflightEngine;
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
  return (request, admit) =>
    withClient(options, admit, async (strangers) => ({
      preflight: await preflightForStranger(request, strangers),
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
  const { engine, policy, userAgent, createClient, answerWithinMs = 1_000 } = options;
  engine.pool.start();
  await options.ready?.();
  const client = createClient({ policy, userAgent });
  try {
    const answer = await ask({ ...engine, client, answerWithinMs, admit });
    return { ...answer, handshakeMs: client.stats().handshakeMs };
  } finally {
    client.close();
  }
}
