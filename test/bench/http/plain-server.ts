/** `node plain-server.ts bare|dressed LOG`: what Fastify costs by itself, and with what a service wears. */
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { pino } from 'pino';

const BODY = { status: 'ok' };

async function dressed(file: string): Promise<FastifyInstance> {
  const log: FastifyBaseLogger = pino(
    { level: 'info' },
    // Lines are written together, as the service writes its own.
    pino.destination({ dest: file, sync: true, minLength: 4_096 }),
  );
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: ['127.0.0.0/8'],
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const ms = Math.round(reply.elapsedTime);
    request.log.info({ method, route: routeOptions.url, status: reply.statusCode, ms });
  });
  await app.register(helmet);
  await app.register(cors, { origin: '*' });
  await app.register(rateLimit, { max: 30, timeWindow: 60_000, enableDraftSpec: true });
  return app;
}

async function main([kind, file = '']: readonly string[]): Promise<void> {
  const app = kind === 'bare' ? Fastify() : await dressed(file);
  app.get('/', async () => BODY);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  if (typeof address === 'object') console.log(`port ${address?.port}`);
}

await main(process.argv.slice(2));
