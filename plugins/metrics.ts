import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import ipaddr from 'ipaddr.js';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { Forbidden } from '../src/service/errors/errors.ts';
import { hasForwardingHeader, isLoopback } from './connection.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The metrics of this process, which `/metrics` serves. */
    metrics: Registry;
  }
}

type MetricsOptions = {
  /** Addresses and CIDR blocks that may read `/metrics`. */
  readonly allowedAddresses: readonly string[];
  /** True if TRUST_PROXY is set. */
  readonly trustsProxy: boolean;
  readonly countPaidScans: () => number;
  /** Registries of other parts, which `/metrics` serves too. */
  readonly otherRegistries?: readonly Registry[];
};

const DURATION_BUCKETS_SEC = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 75];

export default fp(
  async (
    app: FastifyInstance,
    { allowedAddresses, trustsProxy, countPaidScans, otherRegistries = [] }: MetricsOptions,
  ) => {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    app.decorate('metrics', registry);

    const durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer, by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS_SEC,
      registers: [registry],
    });
    new Gauge({
      name: 'scans_running',
      help: 'Scans in flight in this process.',
      registers: [registry],
      collect() {
        this.set(countPaidScans());
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
      if (hidesClient(request, trustsProxy) || !isAllowed(request.ip, allowedAddresses)) {
        throw new Forbidden('Only the addresses in METRICS_ALLOW may read the metrics.');
      }
      const sources = [registry, ...otherRegistries];
      const texts = await Promise.all(sources.map((source) => source.metrics()));
      return reply.type(registry.contentType).send(texts.join('\n'));
    });
  },
  { name: 'metrics', dependencies: ['errors'] },
);

/** A proxy often has a loopback address, which METRICS_ALLOW allows by default. Its clients must not get metrics. */
function hidesClient({ headers, ip }: FastifyRequest, trustsProxy: boolean): boolean {
  if (!hasForwardingHeader(headers)) return false;
  const isClientNamed = trustsProxy && headers['x-forwarded-for'] !== undefined;
  return !isClientNamed || isLoopback(ip);
}

/** Each block is an address or a CIDR block. */
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

/** Logs the route of each request, but no URL or client address: callers' data may be kept for only 24 hours. */
export const logging = fp(
  async (app: FastifyInstance) => {
    app.addHook(
      'onResponse',
      async ({ log, method, routeOptions }, { statusCode, elapsedTime }) => {
        const ms = Math.round(elapsedTime);
        log.info({ method, route: routeOptions.url ?? null, status: statusCode, ms });
      },
    );
  },
  { name: 'logging' },
);
