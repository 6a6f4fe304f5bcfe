import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { createDisconnectSignal } from '../../../plugins/connection.ts';
import { toServiceError } from '../../../plugins/errors.ts';
import type { CountRequest } from '../../../plugins/rate-limit.ts';
import type { OperationId } from '../../config/revision.ts';
import { DISCLAIMER, PROVENANCE, toProject } from '../../directory/project.ts';
import { findFreshReport, toFreeReport } from '../../directory/published-report.ts';
import { explainOneCheck } from '../../engine/catalog/explain.ts';
import { toClient } from '../../limits/client-key.ts';
import { soldScan } from '../../mcp/sold-scan.ts';
import { type McpBackend, PAYMENT_META } from '../../mcp/tools.ts';
import { PaidCallFailed } from '../../model/error-codes.ts';
import { Forbidden, InvalidRequest, NoFreshReport, RateLimited } from '../../model/errors.ts';
import { refuseNesting } from '../../parse/json/refuse-json.ts';
import type { PaymentGate } from '../../payment/gate/gate.ts';
import type { PaidRoute } from '../../payment/paid-route.ts';
import type { Preflight } from '../../preflight/result.ts';
import type { RouteContext } from './route-context.ts';
import { requestedOrigin } from './url-parameter.ts';

/** Judges a challenge that the caller passes in; sends no request. */
export type JudgeInHand = (challenge: object, url: string | null) => Promise<Preflight>;

export type McpRouteOptions = RouteContext & {
  readonly gate: PaymentGate;
  readonly scanRoute: PaidRoute;
  readonly judgeInHand: JudgeInHand;
};

/** Loads the SDK with the first call: its message validators take long to load. */
async function loadSdk() {
  const [{ createMcpServer }, { StreamableHTTPServerTransport }] = await Promise.all([
    import('../../mcp/create-server.ts'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);
  return { createMcpServer, StreamableHTTPServerTransport };
}

/** Room for the two reports of `diff_reports`. */
const BODY_LIMIT_BYTES = 256 * 1_024;
const PAGE_SIZE = 20;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

export const mcpRoutes: FastifyPluginAsync<McpRouteOptions> = async (app, options) => {
  const { revision } = options.config;
  const offer = revision.offers.mcp;
  if (offer === undefined) return;
  app.post(
    '/mcp',
    {
      config: { offer },
      schema: { hide: true },
      bodyLimit: BODY_LIMIT_BYTES,
      onRequest: async (request) => refuseForeigner(request, options),
      preHandler: [refuseBatch, refuseUnreadable, limitCalls(app, options)],
      errorHandler: async (error, { body }) => {
        // `charged` is left out: nobody has read the payment, which may have been charged before.
        const mayPay = body === undefined || paymentIn(body) !== undefined;
        const isUnknown = error instanceof RateLimited && mayPay;
        throw isUnknown ? new PaidCallFailed(error, null) : error;
      },
    },
    async (request, reply) => {
      const disconnect = createDisconnectSignal(reply);
      const { createMcpServer, StreamableHTTPServerTransport } = await loadSdk();
      const server = createMcpServer({
        backend: backendOf(request, reply, disconnect, options),
        version: revision.name,
        describeFailure: (error) => describeFailure(error, request),
        prices: { scan_origin: options.scanRoute.priceBaseUnits },
      });
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      reply.raw.once('close', () => {
        void server.close();
      });
      // The SDK's types are not written for `exactOptionalPropertyTypes`.
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      await transport.handleRequest(request.raw, reply.raw, request.body);
    },
  );
};

/**
 * Protects an instance on a loopback address from pages of other sites: a browser on this machine could
 * call it for them, or their name could resolve to it (DNS rebinding).
 */
function refuseForeigner(
  { hostname, headers: { origin } }: FastifyRequest,
  { config: { host, baseUrl, siteUrl } }: Pick<McpRouteOptions, 'config'>,
): void {
  if (!isLoopback(host)) return;
  const own = [baseUrl, siteUrl].map((url) => new URL(url).hostname);
  const isOwn = (name: string) => isLoopback(name) || own.includes(name);
  if (!isOwn(hostname)) {
    throw new Forbidden('This host name is not one of this service: call it by its BASE_URL.');
  }
  if (origin !== undefined && !isOwn(URL.parse(origin)?.hostname ?? '')) {
    throw new Forbidden('This service takes no calls from pages of other sites.');
  }
}

function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** A batch would cost one token for all its calls; MCP has had none since its revision of 2025-06-18. */
async function refuseBatch({ body }: FastifyRequest): Promise<void> {
  if (Array.isArray(body)) {
    throw new InvalidRequest('The body is a JSON-RPC batch. Send one message in each request.');
  }
}

/** Refuses what the SDK would call an internal error. A payment is measured by the code that reads it. */
async function refuseUnreadable({ body }: FastifyRequest): Promise<void> {
  const excess = refuseNesting(body, paymentIn(body));
  if (excess !== null) throw new InvalidRequest(`The body is ${excess}.`);
  const { method, params } = messageOf(body);
  if (method !== 'tools/call') return;
  const { name, arguments: input = {}, _meta: meta = {} } = params ?? {};
  const isCall = typeof name === 'string' && isRecord(input) && isRecord(meta);
  if (!isCall) {
    throw new InvalidRequest(
      'tools/call takes params of a name, which is a text, and of arguments and _meta, which are objects.',
    );
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The route whose rate limit a call of each tool counts against. */
const TOOL_ROUTES: Readonly<Record<string, readonly [operation: OperationId, path: string]>> = {
  scan_origin: ['scan', '/v1/scan'],
  get_report: ['report', '/v1/report'],
  preflight: ['preflight', '/v1/preflight'],
  search_directory: ['directory', '/v1/directory'],
};

function limitCalls(app: FastifyInstance, { config: { revision } }: McpRouteOptions): CountRequest {
  const isPaying = ({ body }: FastifyRequest) => paymentIn(body) !== undefined;
  const counts = new Map(
    Object.entries(TOOL_ROUTES).map(([tool, [operation, path]]) => {
      const offer = revision.offers[operation];
      return [tool, offer && app.createRouteCounter?.(path, offer, isPaying)] as const;
    }),
  );
  return async (request, reply) => {
    const { method, params } = messageOf(request.body);
    const tool = params?.name;
    if (method !== 'tools/call' || typeof tool !== 'string') return;
    await counts.get(tool)?.(request, reply);
  };
}

type Message = {
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly arguments?: unknown;
    readonly _meta?: { readonly [PAYMENT_META]?: unknown } | null;
  } | null;
};

/** Reads the members that the rate limits need; the SDK validates the message later. */
function messageOf(body: unknown): Message {
  return typeof body === 'object' && body !== null ? body : {};
}

function paymentIn(body: unknown): unknown {
  return messageOf(body).params?._meta?.[PAYMENT_META];
}

function backendOf(
  request: FastifyRequest,
  reply: FastifyReply,
  disconnect: AbortSignal,
  options: McpRouteOptions,
): McpBackend {
  const { config, store, catalog, preflight, gate, scanRoute, judgeInHand } = options;
  const { siteUrl, scanTimeoutMs } = config;
  const { showsCensus } = config.revision;
  return {
    scan: (url, { payment }) =>
      soldScan(url, payment, {
        gate,
        route: scanRoute,
        client: request.server.findPayingClient(request),
        deadlineMs: performance.now() - reply.elapsedTime + scanTimeoutMs,
        disconnect,
        onWritten: (written) =>
          reply.raw.once('finish', () => {
            if (!disconnect.aborted) written();
          }),
      }),
    async report(url) {
      const origin = requestedOrigin(url, options);
      const finished = await findFreshReport(store, origin.host);
      if (finished === null) throw new NoFreshReport(origin);
      return toFreeReport(finished, siteUrl);
    },
    async explain(id) {
      const isKnown = catalog.checks.some((check) => check.id === id);
      if (!isKnown) throw new InvalidRequest('There is no such check. GET /v1/checks lists all.');
      return explainOneCheck(id, catalog);
    },
    preflight: (url, method, maxPrice) =>
      preflight.askUrl({ url, method, maxPrice, client: toClient(request.ip) }),
    validate: judgeInHand,
    async search({ q, category, sort = 'recent', payable, page = 0 }) {
      const query = { q, category, sort, payable, page, pageSize: PAGE_SIZE };
      const { count, records } = await store.directory.list(query);
      const form = { siteUrl, showsCensus };
      const projects = records.map((record) => toProject(record, form, store.now()));
      return { count, page, disclaimer: DISCLAIMER, provenance: PROVENANCE, projects };
    },
  };
}

/** Writes an error in the form of the API's errors. */
function describeFailure(error: unknown, request: FastifyRequest): object {
  const paid = error instanceof PaidCallFailed ? error : null;
  const known = toServiceError(paid === null ? error : paid.cause, request);
  if (known.status >= 500 && known.cause !== undefined) {
    request.log.error({ err: known.cause, code: known.code }, 'tool failed');
  }
  const { code, message, retryAfterSec, body } = known;
  const charged = paid === null ? (known.charged ?? false) : paid.charged;
  return { error: code, message, charged, ...(retryAfterSec ? { retryAfterSec } : {}), ...body };
}
