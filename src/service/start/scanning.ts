import type { FastifyBaseLogger } from 'fastify';
import { openClients } from '../../scanner/clients/open-clients.ts';
import type { Catalog } from '../../scanner/engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../../scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../scanner/engine/judging-pool.ts';
import type { OriginPolicy } from '../../scanner/guard/origin.ts';
import type { Standing } from '../../scanner/model/standing.ts';
import {
  preflightForStranger,
  preflightHost,
  preflightInHand,
} from '../../scanner/preflight/preflight.ts';
import { openProbeThread } from '../../scanner/probe/client/probe-thread.ts';
import { createScanner } from '../../scanner/scan/run-scan.ts';
import type { Scanner } from '../../scanner/scan/scanner.ts';
import { createThreadEnvironment } from '../../scanner/workers/threads.ts';
import { type AskListed, createAskListed } from '../census/ask-listed.ts';
import type { JudgeChallenge } from '../http/routes/mcp.ts';
import { type AskResources, createAskResources } from '../turns/ask-resources.ts';
import type { OpenTurnClient, TurnClient } from '../turns/origin-turns.ts';
import type { AskHost, AskSeller } from '../turns/run-preflight.ts';

export type ScanningOptions = {
  readonly policy: OriginPolicy;
  readonly userAgent: string;
  readonly censusAgent: string;
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly standing: Standing;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
};

export type Scanning = {
  /** `scanner.close` ends the threads of all members. */
  readonly scanner: Scanner;
  readonly openClient: OpenTurnClient;
  readonly judgeGivenChallenge: JudgeChallenge;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  readonly askResources: AskResources;
  readonly askListed: AskListed;
  /** Returns the scanner of the census, which has its own User-Agent and its own limits for indexes. */
  readonly openCensusScanner: (standing: Standing) => Pick<Scanner, 'scan'>;
};

/** Limit of a seller's answer to a free preflight. */
const ANSWER_WITHIN_MS = 1_000;

/** Starts one thread, which measures this machine. The first scan or request starts the other threads. */
export function createScanning(options: ScanningOptions): Scanning {
  const { policy, userAgent, censusAgent, catalog, checks, standing, log } = options;
  const pool = createPool({ onError: (err) => log.error({ err }, 'error of a worker') });
  // If the measurement fails, the first task that runs out of time measures again.
  pool.calibrate().catch(() => undefined);
  const probe = openProbeThread({
    onError: (message, err) => log.error({ err }, message),
    environment: createThreadEnvironment(),
  });
  const { createClient, isSaturated } = probe;
  const clients = openClients({
    scale: pool.getScale,
    onError: (message) => log.error(message),
  });
  const engine = { catalog, checks, pool, clients };
  const outbound = { policy, userAgent, createClient };
  const scanner = createScanner({ ...engine, ...outbound, standing, isSaturated });
  /** Starts the threads, so that their start does not count as the seller's time. */
  const startForStranger = async (client: TurnClient) => {
    pool.start();
    await probe.ready();
    return { ...engine, client, answerWithinMs: ANSWER_WITHIN_MS };
  };
  return {
    scanner: {
      ...scanner,
      async close() {
        await scanner.close();
        await probe.close();
      },
    },
    openClient: async (kind, limits) =>
      createClient({ policy, limits, userAgent: kind === 'census' ? censusAgent : userAgent }),
    judgeGivenChallenge: (challenge, url) =>
      preflightInHand(challenge, url, { maxPrice: null }, engine),
    askSeller: async (request, client) =>
      preflightForStranger(request, await startForStranger(client)),
    askHost: async (origin, client) => preflightHost(origin, await startForStranger(client)),
    askResources: createAskResources(engine),
    askListed: createAskListed(engine),
    openCensusScanner: (censusStanding) =>
      createScanner({ ...engine, ...outbound, userAgent: censusAgent, standing: censusStanding }),
  };
}
