import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import ipaddr from 'ipaddr.js';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { Forbidden } from '../src/model/errors.ts';
import { hasForwardingHeader, isLoopback } from './connection.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The process's registry; `/metrics` answers it. */
    metrics: Registry;
  }
}

export type MetricsOptions = {
  /** Addresses and CIDR blocks that may read `/metrics`. */
  readonly allow: readonly string[];
  readonly isBehindProxy: boolean;
  /** Number of scans that run now. */
  readonly runningScans: () => number;
  /** Registries of other parts, answered as well. */
  readonly further?: readonly Registry[];
};

const SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 75];

export default fp(
  async (
    app: FastifyInstance,
    { allow, isBehindProxy, runningScans, further = [] }: MetricsOptions,
  ) => {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    app.decorate('metrics', registry);

    const durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer, by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS,
      registers: [registry],
    });
    new Gauge({
      name: 'scans_running',
      help: 'Scans in flight in this process.',
      registers: [registry],
      collect() {
        this.set(runningScans());
      },
    });

    const redeliveries = new Counter({
      name: 'payments_redelivered_total',
      help: 'Answers that were paid for before and were given again.',
      registers: [registry],
    });

    app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
      const { statusCode: status, elapsedTime } = reply;
      if (status === 200 && reply.hasHeader('x-redelivered')) redeliveries.inc();
      durations.observe({ method, route: routeOptions.url ?? 'none', status }, elapsedTime / 1_000);
    });

    app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
      if (isSomebodyElse(request, isBehindProxy) || !isAllowed(request.ip, allow)) {
        throw new Forbidden('Metrics are read from the addresses of METRICS_ALLOW only.');
      }
      const parts = await Promise.all([registry, ...further].map((one) => one.metrics()));
      return reply.type(registry.contentType).send(parts.join('\n'));
    });
  },
  { name: 'metrics', dependencies: ['errors'] },
);

/**
 * True if an untrusted proxy forwarded the request. `ip` is then the proxy's address, often
 * loopback, which METRICS_ALLOW lets in.
 */
function isSomebodyElse({ headers, ip }: FastifyRequest, isBehindProxy: boolean): boolean {
  if (!hasForwardingHeader(headers)) return false;
  const isStated = isBehindProxy && headers['x-forwarded-for'] !== undefined;
  return !isStated || isLoopback(ip);
}

function isAllowed(ip: string, blocks: readonly string[]): boolean {
  if (!ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return blocks.some((block) => {
    const [network, bits] = ipaddr.isValidCIDR(block)
      ? ipaddr.parseCIDR(block)
      : ([ipaddr.parse(block), null] as const);
    if (network.kind() !== address.kind()) return false;
    return address.match(network, bits ?? (address.kind() === 'ipv4' ? 32 : 128));
  });
}
