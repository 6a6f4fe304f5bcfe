import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Registry } from 'prom-client';
import errors, { answerClientError, answerError } from '../../../plugins/error-answers.ts';
import headers from '../../../plugins/headers.ts';
import metrics, { logging } from '../../../plugins/metrics.ts';
import offers from '../../../plugins/offers.ts';
import openapi, { OPENAPI_KEYWORD } from '../../../plugins/openapi.ts';
import payment from '../../../plugins/payment.ts';
import pressure from '../../../plugins/pressure.ts';
import rateLimit from '../../../plugins/rate-limit.ts';
import requestGuard from '../../../plugins/request-guard.ts';
import unknownPaths, { MAX_PATH_CHARS, toRoutableUrl } from '../../../plugins/unknown-paths.ts';
import views from '../../../plugins/views.ts';
import type { Config } from '../config/config.ts';
import { createTokenReader, type TokenReaderOptions } from '../ownership/token-reader.ts';
import { createVerification } from '../ownership/verification.ts';
import type { Payments } from '../payment/payments.ts';
import type { OriginTurns } from '../turns/origin-turns.ts';
import { type AskHost, type AskSeller, createPreflightRunner } from '../turns/run-preflight.ts';
import { createOwnerWatches } from '../watch/owner-watches.ts';
import { toWatchTiming } from '../watch/state.ts';
import { TAGS, toOpenApiInfo } from './documents/service-facts.ts';
import { attestationRoutes } from './routes/attestation.ts';
import { directoryRoutes } from './routes/directory.ts';
import { documentRoutes } from './routes/documents.ts';
import { feedRoutes } from './routes/feed.ts';
import type { JudgeChallenge } from './routes/mcp.ts';
import { ownershipRoutes, watchRoutes } from './routes/ownership.ts';
import { paidRoutes, type SoldOperation } from './routes/paid/paid-catalog.ts';
import { preflightRoutes } from './routes/preflight.ts';
import { checksRoutes, healthRoutes, reportRoutes, statusRoutes } from './routes/reading.ts';
import type { RouteContext } from './routes/route-context.ts';
import { homeRoute } from './routes/site/home.ts';
import {
  aboutRoutes,
  badgeRoute,
  browseRoute,
  checkRoutes,
  statisticsPageRoute,
} from './routes/site/pages.ts';
import { reportRoute } from './routes/site/report.ts';
import { statisticsRoutes } from './routes/statistics.ts';

export type AppOptions = Omit<
  RouteContext,
  'config' | 'verification' | 'preflight' | 'ownerWatches'
> & {
  readonly log: FastifyBaseLogger;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  /** The app stops the turns before it closes. */
  readonly turns: OriginTurns;
  readonly judgeGivenChallenge: JudgeChallenge;
  readonly limits?: Partial<typeof SERVER_LIMITS> | undefined;
  /** Waits until a host's file may be read again. Tests replace this timer. */
  readonly wait?: TokenReaderOptions['wait'];
  readonly payments: SellingPayments;
  /** Registries of other parts, which `/metrics` serves too. */
  readonly registries?: readonly Registry[];
};

type SellingPayments = Payments & {
  readonly sold: readonly SoldOperation[];
  readonly metrics: { readonly registry: Registry };
};

export const SERVER_LIMITS = {
  /** Time in which a client must send a whole request. The answer may take longer. */
  requestTimeoutMs: 15_000,
  /** Interval at which Node looks for slow requests. Node closes a connection up to this time after the limit. */
  checkIntervalMs: 5_000,
  /** Further connections are closed at once. An idle connection costs about 15 KiB. */
  maxConnections: 10_000,
  /**
   * Connections that may wait while this thread is busy. The operating system may allow fewer. A further
   * connection loses its first packet, and its client tries again after a second.
   */
  backlog: 4_096,
};

const BODY_LIMIT_BYTES = 4 * 1_024;
/** A payment header may have 8 KiB, and a client may send two of them. */
const MAX_HEADER_BYTES = 32 * 1_024;

/** Builds the app without listening. `app.close()` does not close the `parts`; the caller must. */
export async function buildApp(config: Config, parts: AppOptions): Promise<FastifyInstance> {
  const limits = { ...SERVER_LIMITS, ...parts.limits };
  const app = Fastify({
    loggerInstance: parts.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: limits.requestTimeoutMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      // `plugins/request-guard.ts` answers a request without Host, in the form of every other error.
      requireHostHeader: false,
      headersTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
    },
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    // `plugins/pressure.ts` answers requests while the app stops, in the form of every other error.
    return503OnClosing: false,
    rewriteUrl: toRoutableUrl,
    // A host in a path has up to 253 characters; Fastify's default limit is 100.
    routerOptions: { maxParamLength: MAX_PATH_CHARS },
    // Values of the wrong type are refused, not converted; unknown members are allowed.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        verbose: true,
        keywords: [OPENAPI_KEYWORD],
      },
    },
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
    clientErrorHandler: answerClientError,
    genReqId: () => crypto.randomUUID(),
  });
  app.server.maxConnections = limits.maxConnections;
  // Response schemas only document the answers; tests validate the answers against them.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  // `plugins/request-guard.ts` adds the only parser, for JSON.
  app.removeAllContentTypeParsers();

  await registerPlugins(app, config, parts);
  const { store, payments, askSeller, askHost, turns, wait } = parts;
  const { originPolicy: policy, siteUrl, timeScale, isRateLimited } = config;
  const preflight = createPreflightRunner({ store, policy, askSeller, askHost, turns });
  const stopping = new AbortController();
  app.addHook('preClose', async () => {
    stopping.abort();
    turns.stop();
  });
  const readToken = createTokenReader({ store, turns, stopping: stopping.signal, wait });
  const verification = createVerification({ store, readToken });
  const timing = toWatchTiming(timeScale);
  const ownerWatches = createOwnerWatches({ store, policy, siteUrl, isRateLimited, timing });
  const context = { ...parts, config, verification, ownerWatches, preflight };
  await registerRoutes(app, context);
  await app.register(paidRoutes, payments);
  await registerMcp(app, context, parts);
  await app.ready();
  return app;
}

/** Imports the MCP routes only in revisions that have them. */
async function registerMcp(
  app: FastifyInstance,
  context: RouteContext,
  { payments, judgeGivenChallenge }: AppOptions,
): Promise<void> {
  const scan = payments.sold.find(({ operation }) => operation === 'scan');
  if (context.config.revision.offers.mcp === undefined || scan === undefined) return;
  const { mcpRoutes } = await import('./routes/mcp.ts');
  const { gate } = payments;
  await app.register(mcpRoutes, { ...context, gate, scanRoute: scan.route, judgeGivenChallenge });
}

async function registerPlugins(
  app: FastifyInstance,
  config: Config,
  { store, scanCoordinator, payments, registries = [] }: AppOptions,
): Promise<void> {
  await app.register(errors);
  await app.register(logging);
  await app.register(headers);
  await app.register(requestGuard);
  await app.register(pressure);
  await app.register(offers, { offers: config.revision.offers });
  if (config.isRateLimited) await app.register(rateLimit, { store });
  await app.register(unknownPaths);
  await app.register(payment, {
    gate: payments.gate,
    answerWithinMs: config.scanTimeoutMs,
    trustsProxy: config.trustProxy.length > 0,
  });
  const { baseUrl } = config;
  await app.register(openapi, { baseUrl, info: toOpenApiInfo(config), tags: TAGS });
  await app.register(views, {
    hasMockPayments: config.payment.mode === 'mock',
    hasStatistics: config.revision.offers.statistics !== undefined,
  });
  await app.register(metrics, {
    allowedAddresses: config.metricsAllow,
    trustsProxy: config.trustProxy.length > 0,
    countPaidScans: () => scanCoordinator.countPaidScans(),
    otherRegistries: [payments.metrics.registry, ...registries],
  });
}

async function registerRoutes(app: FastifyInstance, context: RouteContext): Promise<void> {
  for (const routes of [
    healthRoutes,
    statusRoutes,
    checksRoutes,
    reportRoutes,
    attestationRoutes,
    preflightRoutes,
    directoryRoutes,
    statisticsRoutes,
    ownershipRoutes,
    documentRoutes,
    homeRoute,
    browseRoute,
    reportRoute,
    badgeRoute,
    checkRoutes,
    aboutRoutes,
    statisticsPageRoute,
    feedRoutes,
    watchRoutes,
  ]) {
    await app.register(routes, context);
  }
}
