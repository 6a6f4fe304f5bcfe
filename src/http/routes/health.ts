import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { ScannerFailed, StoreUnavailable } from '../../model/errors.ts';
import { errorResponses } from './error-schema.ts';
import type { RouteContext } from './route-context.ts';

const healthSchema = Type.Object({
  status: Type.Unsafe<'ok' | 'unavailable'>({ type: 'string', enum: ['ok', 'unavailable'] }),
  version: Type.String({ description: 'Revision of the API.' }),
  checksVersion: Type.String(),
  paymentMode: Type.Unsafe<'live' | 'mock'>({
    type: 'string',
    enum: ['live', 'mock'],
    description: 'mock: signatures are verified, nothing is settled.',
  }),
  store: Type.String({ description: 'Kind of database.' }),
});

/** Liveness, without a rate limit: balancers ask often, from one address. */
export const healthRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { config, catalog, store, scanCoordinator } = parts;
  const facts = {
    version: config.revision.name,
    checksVersion: catalog.checksVersion,
    paymentMode: config.payment.mode === 'mock' ? 'mock' : 'live',
    store: store.info.kind,
  } as const;

  app.get(
    '/health',
    {
      config: { offer: { kind: 'free', requestsPerMinute: null } },
      schema: {
        operationId: 'health',
        tags: ['service'],
        summary: 'Liveness and payment mode',
        response: { 200: healthSchema, ...errorResponses('store_unavailable', 'scanner_failed') },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      try {
        await store.ping();
      } catch (error) {
        throw new StoreUnavailable(error, { ...facts, status: 'unavailable' });
      }
      const fault = scanCoordinator.fault();
      if (fault !== null) throw new ScannerFailed(fault, { ...facts, status: 'unavailable' });
      return { status: 'ok' as const, ...facts };
    },
  );
};
