import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { createDisconnectSignal } from '../../../../plugins/connection.ts';
import { explainError } from '../../../../plugins/error-answers.ts';
import type { CountRequest } from '../../../../plugins/rate-limit.ts';
import { explainOneCheck } from '../../../scanner/engine/catalog/catalog.ts';
import { type McpBackend, PAYMENT_META } from '../../../scanner/mcp/tools.ts';
import { readMembers } from '../../../scanner/model/json.ts';
import { nameExceededLimit } from '../../../scanner/parse/json/json.ts';
import type { Preflight } from '../../../scanner/preflight/result.ts';
import type { OperationId } from '../../config/revision.ts';
import { NOTICES, toProject } from '../../directory/project.ts';
import { findFreshReport, toFreeReport } from '../../directory/published-report.ts';
import { PaidCallFailed } from '../../errors/error-codes.ts';
import { Forbidden, InvalidRequest, NoFreshReport, RateLimited } from '../../errors/errors.ts';
import type { PaymentGate } from '../../payment/gate/gate.ts';
import type { PaidRoute } from '../../payment/paid-route.ts';
import { toClient } from '../../turns/client-key.ts';
import { PATHS } from '../documents/service-facts.ts';
import { parseRequestedOrigin, type RouteContext } from './route-context.ts';
import { sellScan } from './sold-scan.ts';

/** Judges a challenge that the caller passes, without a request to the seller. */
export type JudgeChallenge = (challenge: object, url: string | null) => Promise<Preflight>;

type McpRouteOptions = RouteContext & {
  readonly gate: PaymentGate;
  readonly scanRoute: PaidRoute;
  readonly judgeGivenChallenge: JudgeChallenge;
};

/** Loads the MCP SDK at the first call, because its message validators take long to load. */
const loadSdk = () =>
  Promise.all([
    import('../../../scanner/mcp/create-server.ts'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);

/** Large enough for the two reports that `diff_reports` takes. */
const BODY_LIMIT_BYTES = 256 * 1_024;
const SEARCH_PAGE_SIZE = 20;
/** Clients that use the MCP SDK give up after 60 s, its default. */
const ANSWER_WITHIN_MS = 55_000;
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

export const mcpRoutes: FastifyPluginAsync<McpRouteOptions> = async (app, options) => {
  app.offer('mcp', {
    method: 'POST',
    url: PATHS.mcp,
    schema: { hide: true },
    bodyLimit: BODY_LIMIT_BYTES,
    onRequest: async (request) => refuseForeignPage(request, options),
    preHandler: [refuseBatch, refuseMalformedCall, createCallCounter(app, options)],
    errorHandler: async (error, { body }) => {
      // `charged` becomes null: the gate has not read the payment, and an earlier request may have charged it.
      // A limit may apply before the body is parsed.
      const mayPay = body === undefined || findPayment(body) !== undefined;
      const isPaymentUnread = error instanceof RateLimited && mayPay;
      throw isPaymentUnread ? new PaidCallFailed(error, null) : error;
    },
    async handler(request, reply) {
      const disconnect = createDisconnectSignal(reply);
      const [{ createMcpServer }, { StreamableHTTPServerTransport }] = await loadSdk();
      const server = createMcpServer({
        backend: createBackend(request, reply, disconnect, options),
        version: options.config.revision.name,
        describeFailure: (error) => describeFailure(error, request),
        prices: { scan_origin: options.scanRoute.priceBaseUnits },
      });
      // Notifications of progress need a stream; every other answer is one JSON document.
      const enableJsonResponse = readMeta(request.body)['progressToken'] === undefined;
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse });
      reply.raw.once('close', () => {
        void server.close();
      });
      // The types of the SDK do not allow the compiler option `exactOptionalPropertyTypes`.
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      // The SDK writes to the raw response, so the headers that our hooks have set are copied to it.
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      await transport.handleRequest(request.raw, reply.raw, request.body);
    },
  });
};

/**
 * Protects an instance on a loopback address from pages of other sites. A page in a browser on this machine
 * could call the instance, or the site's host name could resolve to the loopback address (DNS rebinding).
 */
function refuseForeignPage(
  { hostname, headers: { origin } }: FastifyRequest,
  { config: { host, baseUrl, siteUrl } }: Pick<McpRouteOptions, 'config'>,
): void {
  if (!isLoopback(host)) return;
  const ownNames = [baseUrl, siteUrl].map((url) => new URL(url).hostname);
  const isOwnName = (name: string) => isLoopback(name) || ownNames.includes(name);
  if (!isOwnName(hostname)) {
    throw new Forbidden('This host name is not one of this service. Use the host of its BASE_URL.');
  }
  if (origin !== undefined && !isOwnName(URL.parse(origin)?.hostname ?? '')) {
    throw new Forbidden('This service takes no calls from pages of other sites.');
  }
}

function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.has(host) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Rate limits would count a batch as one request. MCP has had no batches since its revision of 2025-06-18. */
async function refuseBatch({ body }: FastifyRequest): Promise<void> {
  if (Array.isArray(body)) {
    throw new InvalidRequest('The body is a JSON-RPC batch. Send one message in each request.');
  }
}

/** Refuses calls for which the SDK would answer an internal error. `sold-scan.ts` checks the nesting of a payment. */
async function refuseMalformedCall({ body }: FastifyRequest): Promise<void> {
  const exceededLimit = nameExceededLimit(body, findPayment(body));
  if (exceededLimit !== null) throw new InvalidRequest(`The body is ${exceededLimit}.`);
  const { method, params } = readMembers(body);
  if (method !== 'tools/call') return;
  const { name, arguments: input = {}, _meta: meta = {} } = readMembers(params);
  if (typeof name !== 'string' || !isRecord(input) || !isRecord(meta)) {
    throw new InvalidRequest(
      'The params of tools/call must have a name, which is a string; arguments and _meta must be objects.',
    );
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A call of a tool in this table also counts against the rate limit of the operation beside it. */
const TOOL_ROUTES: Readonly<Record<string, readonly [operation: OperationId, path: string]>> = {
  scan_origin: ['scan', '/v1/scan'],
  get_report: ['report', '/v1/report'],
  preflight: ['preflight', '/v1/preflight'],
  search_directory: ['directory', '/v1/directory'],
};

function createCallCounter(
  app: FastifyInstance,
  { config: { revision } }: McpRouteOptions,
): CountRequest {
  const isPaying = ({ body }: FastifyRequest) => findPayment(body) !== undefined;
  const counters = new Map(
    Object.entries(TOOL_ROUTES).map(([tool, [operation, path]]) => {
      const offer = revision.offers[operation];
      return [tool, offer && app.createRouteCounter?.(path, offer, isPaying)] as const;
    }),
  );
  return async (request, reply) => {
    const { method, params } = readMembers(request.body);
    const { name: tool } = readMembers(params);
    if (method !== 'tools/call' || typeof tool !== 'string') return;
    await counters.get(tool)?.(request, reply);
  };
}

function findPayment(body: unknown): unknown {
  return readMeta(body)[PAYMENT_META];
}

/** The SDK validates the whole message later. */
function readMeta(body: unknown) {
  const { params } = readMembers(body);
  return readMembers(readMembers(params)['_meta']);
}

function createBackend(
  request: FastifyRequest,
  reply: FastifyReply,
  disconnect: AbortSignal,
  options: McpRouteOptions,
): McpBackend {
  const { config, store, catalog, preflight, gate, scanRoute, judgeGivenChallenge } = options;
  return {
    scan: (url, { payment }) =>
      sellScan(url, payment, {
        gate,
        route: scanRoute,
        client: request.server.findPayingClient(request),
        // Counted from the arrival of the request.
        deadlineMs:
          performance.now() - reply.elapsedTime + Math.min(config.scanTimeoutMs, ANSWER_WITHIN_MS),
        disconnect,
        onWritten: (callback) =>
          reply.raw.once('finish', () => {
            if (!disconnect.aborted) callback();
          }),
      }),
    async report(url) {
      const origin = parseRequestedOrigin(url, options);
      const report = await findFreshReport(store, origin.host);
      if (report === null) throw new NoFreshReport(origin);
      return toFreeReport(report, config.siteUrl);
    },
    async explain(id) {
      if (!catalog.checks.some((check) => check.id === id))
        throw new InvalidRequest('No check has this id. GET /v1/checks lists all checks.');
      return explainOneCheck(id, catalog);
    },
    preflight: (url, method, maxPrice) =>
      preflight.judgeUrl({ url, method, maxPrice, client: toClient(request.ip) }),
    validate: judgeGivenChallenge,
    async search({ q, category, sort = 'recent', payable, page = 0 }) {
      const query = { q, category, sort, payable, page, pageSize: SEARCH_PAGE_SIZE };
      const { count, records } = await store.directory.list(query);
      const projects = records.map((record) => toProject(record, config, store.now()));
      return { count, page, ...NOTICES, projects };
    },
  };
}

/** Writes an error in the form of the API's errors. */
function describeFailure(error: unknown, request: FastifyRequest): object {
  const { serviceError, charged } = explainError(error, request, 'tool failed');
  const { code, message, retryAfterSec, body } = serviceError;
  return { error: code, message, charged, ...(retryAfterSec ? { retryAfterSec } : {}), ...body };
}
