/** `/mcp`: the tools over streamable HTTP, without sessions; a scan costs what its route costs. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { toServiceError } from '../../../plugins/errors.ts';
import { findFreshReport } from '../../directory/fresh-report.ts';
import { toProject } from '../../directory/project.ts';
import { DISCLAIMER, PROVENANCE } from '../../directory/provenance.ts';
import { toReportBody } from '../../directory/report-body.ts';
import { explainAlone } from '../../engine/catalog/explain.ts';
import type { McpHost } from '../../mcp/host.ts';
import { soldScan } from '../../mcp/sold-scan.ts';
import { PaidCallFailed } from '../../model/error-codes.ts';
import { Forbidden, NoFreshReport } from '../../model/errors.ts';
import type { PaymentGate } from '../../payment/gate/gate.ts';
import type { PaidRoute } from '../../payment/paid-route.ts';
import type { Preflight } from '../../preflight/result.ts';
import { requestedOrigin } from './requested-origin.ts';
import type { RouteContext } from './route-context.ts';

/** Judges a challenge that its caller has; sends no request. */
export type JudgeInHand = (challenge: object, url: string | null) => Promise<Preflight>;

export type McpRouteOptions = RouteContext & {
  readonly gate: PaymentGate;
  readonly scanRoute: PaidRoute;
  readonly judgeInHand: JudgeInHand;
};

/** Loaded with the first call: the SDK brings the validators of its messages. */
async function loadSdk() {
  const [{ createMcpServer }, { StreamableHTTPServerTransport }] = await Promise.all([
    import('../../mcp/create-server.ts'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);
  return { createMcpServer, StreamableHTTPServerTransport };
}

/** Two reports to compare. */
const BODY_LIMIT_BYTES = 256 * 1_024;
const PAGE_SIZE = 20;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

export const mcpRoutes: FastifyPluginAsync<McpRouteOptions> = async (app, options) => {
  const { revision } = options.config;
  const offer = revision.offers.mcp;
  if (offer === undefined) return;
  app.post(
    '/mcp',
    { config: { offer }, schema: { hide: true }, bodyLimit: BODY_LIMIT_BYTES },
    async (request, reply) => {
      refuseForeignHost(request, options);
      const gone = goneOf(reply);
      const { createMcpServer, StreamableHTTPServerTransport } = await loadSdk();
      const server = createMcpServer({
        host: hostOf(request, reply, gone, options),
        version: revision.name,
        describeFailure: (error) => describeFailure(error, request),
        prices: { scan_origin: options.scanRoute.priceBaseUnits },
      });
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      reply.raw.once('close', () => {
        void server.close();
      });
      // Its types do not know `exactOptionalPropertyTypes`.
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      reply.hijack();
      for (const [name, value] of Object.entries(reply.answerHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      await transport.handleRequest(request.raw, reply.raw, request.body);
    },
  );
};

/**
 * A page that points its own name at this machine (DNS rebinding) could reach an instance that
 * listens for this machine alone.
 */
function refuseForeignHost(
  { hostname }: FastifyRequest,
  { config: { host, baseUrl } }: Pick<McpRouteOptions, 'config'>,
): void {
  if (!LOOPBACK.has(host) || LOOPBACK.has(hostname)) return;
  if (hostname === new URL(baseUrl).hostname) return;
  throw new Forbidden('This host name is not one of this service: call it by its BASE_URL.');
}

function hostOf(
  request: FastifyRequest,
  reply: FastifyReply,
  gone: AbortSignal,
  options: McpRouteOptions,
): McpHost {
  const { config, store, catalog, preflight, gate, scanRoute, judgeInHand } = options;
  const { siteUrl, scanTimeoutMs } = config;
  return {
    scan: (url, { payment }) =>
      soldScan(url, payment, {
        gate,
        route: scanRoute,
        client: request.server.payingClient(request),
        deadlineMs: performance.now() - reply.elapsedTime + scanTimeoutMs,
        gone,
        onWritten: (written) =>
          reply.raw.once('finish', () => {
            if (!gone.aborted) written();
          }),
      }),
    async report(url) {
      const origin = requestedOrigin(url, options);
      const finished = await findFreshReport(store, origin.host);
      if (finished === null) throw new NoFreshReport(origin);
      return toReportBody(finished, { cache: 'hit', siteUrl, saysCharged: false });
    },
    explain: (id) => explainAlone(id, catalog),
    preflight: (url, method, maxPrice) => preflight({ url, method, maxPrice }),
    validate: judgeInHand,
    async search({ q, category, sort = 'recent', page = 0 }) {
      const query = { q, category, sort, page, pageSize: PAGE_SIZE };
      const { count, records } = await store.directory.list(query);
      const projects = records.map((record) => toProject(record, siteUrl, store.now()));
      return { count, page, disclaimer: DISCLAIMER, provenance: PROVENANCE, projects };
    },
  };
}

function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  if (raw.destroyed || raw.socket?.destroyed) gone.abort();
  return gone.signal;
}

/** In the form of every other error. */
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
