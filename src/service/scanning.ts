import type { FastifyBaseLogger } from 'fastify';
import { createOracle } from '../buyers/create-oracle.ts';
import { type AskListed, createAskListed } from '../census/ask-listed.ts';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { createPool } from '../engine/judging-pool.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import type { JudgeChallenge } from '../http/routes/mcp.ts';
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
  type StrangerOptions,
} from '../preflight/preflight.ts';
import type { CreateProbeClient } from '../probe/client/client.ts';
import { openProbeThread } from '../probe/client/probe-thread.ts';
import { createScanner } from '../scan/run-scan.ts';
import type { Scanner } from '../scan/scanner.ts';
import type { PostWebhook } from '../watch/deliveries.ts';
import { createPostWebhook } from '../watch/post-webhook.ts';
import { threadEnvironment } from '../workers/threads.ts';

export type ScanningOptions = {
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly standing: Standing;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
};

export type Scanning = {
  /** `scanner.close` ends the threads of all members. */
  readonly scanner: Scanner;
  readonly fetchToken: FetchToken;
  readonly judgeGivenChallenge: JudgeChallenge;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  readonly askResources: AskResources;
  readonly resolve: ResolveOrigin;
  readonly postWebhook: PostWebhook;
  /** Returns the parts of the census, which has its own User-Agent. */
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

/** Starts one thread, which measures this machine. The first scan or request starts the other threads. */
export function createScanning(options: ScanningOptions): Scanning {
  const { policy, userAgent, catalog, checks, standing, log } = options;
  const pool = createPool({ onError: (err) => log.error({ err }, 'error of a worker') });
  // If it fails, the first task that runs out of time measures again.
  pool.calibrate().catch(() => undefined);
  const probe = openProbeThread({
    onError: (message, err) => log.error({ err }, message),
    environment: threadEnvironment(),
  });
  const { createClient, isSaturated } = probe;
  const oracle = createOracle({
    scale: pool.getScale,
    onError: (message) => log.error(message),
  });
  const engine = { catalog, checks, pool, oracle };
  const outbound = { policy, userAgent, createClient };
  const askOptions = { engine, ...outbound, ready: () => probe.ready() };
  const scanner = createScanner({ ...engine, ...outbound, standing, isSaturated });
  return {
    scanner: {
      ...scanner,
      async close() {
        await scanner.close();
        await probe.close();
      },
    },
    fetchToken: createTokenFetcher(outbound),
    judgeGivenChallenge: (challenge, url) =>
      preflightInHand(challenge, url, { maxPrice: null }, engine),
    askSeller: createAskSeller(askOptions),
    askHost: createAskHost(askOptions),
    askResources: createAskResources({ engine, ...outbound }),
    async resolve(origin) {
      const client = createClient(outbound);
      try {
        return await client.resolveOrigin(origin);
      } finally {
        client.close();
      }
    },
    postWebhook: createPostWebhook(outbound),
    openCensus: (census) => ({
      askListed: createAskListed({ engine, ...outbound, userAgent: census.userAgent }),
      scanner: createScanner({ ...engine, ...outbound, ...census }),
    }),
  };
}

/** Strangers cause these requests for nothing, so each name is asked once. */
const FREE_LIMITS = { maxDnsTries: 1 };

export type AskSellerOptions = {
  readonly engine: PreflightEngine;
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly createClient: CreateProbeClient;
  /** Starts the prober's thread, so that its start does not count as the seller's time. */
  readonly ready?: () => Promise<void>;
  /** Time limit in ms of the answer; default 1,000. */
  readonly answerWithinMs?: number;
};

/** Sends a request to the URL that the caller names. */
export function createAskSeller(options: AskSellerOptions): AskSeller {
  return (request, admit) =>
    withClient(options, admit, async (strangerOptions) => ({
      preflight: await preflightForStranger(request, strangerOptions),
    }));
}

/** Reads the documents of a host, and sends a request to the first URL in them that sells by GET. */
export function createAskHost(options: AskSellerOptions): AskHost {
  return (origin, admit) =>
    withClient(options, admit, async (strangerOptions) => {
      // Loaded at the first call, because most callers name a URL and not a host.
      const { preflightHost } = await import('../preflight/preflight-host.ts');
      return preflightHost(origin, strangerOptions);
    });
}

async function withClient<Answer extends object>(
  options: AskSellerOptions,
  admit: AdmitAddresses,
  ask: (strangerOptions: StrangerOptions) => Promise<Answer>,
): Promise<Answer & { readonly handshakeMs: number }> {
  const { engine, policy, userAgent, createClient, answerWithinMs = 1_000 } = options;
  engine.pool.start();
  await options.ready?.();
  const client = createClient({ policy, userAgent, limits: FREE_LIMITS });
  try {
    const answer = await ask({ ...engine, client, answerWithinMs, admit });
    return { ...answer, handshakeMs: client.stats().handshakeMs };
  } finally {
    client.close();
  }
}
