import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Saturated } from '../src/service/errors/errors.ts';

/** Limit of the mean delay over one sample interval. A slow machine that still answers stays under this limit. */
const MAX_EVENT_LOOP_DELAY_MS = 5_000;
const SAMPLE_INTERVAL_MS = 10_000;
/** Share of the heap limit. Above this share, garbage collection takes most of the time. */
const MAX_HEAP_SHARE = 0.9;
const RETRY_AFTER_SEC = 10;

/** Answers 503 before validation and payment if the process is overloaded or stops. A stop closes unused sockets. */
export default fp(
  async (app: FastifyInstance) => {
    let isStopping = false;
    const unusedSockets = collectUnusedSockets(app);
    app.addHook('preClose', async () => {
      isStopping = true;
      for (const socket of unusedSockets) socket.destroy();
    });
    app.addHook('onRequest', (_request, reply, next) => {
      if (!isStopping) return next();
      reply.header('connection', 'close');
      next(new Saturated(RETRY_AFTER_SEC));
    });
    await app.register(underPressure, {
      maxEventLoopDelay: MAX_EVENT_LOOP_DELAY_MS,
      maxHeapUsedBytes: Math.floor(getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE),
      sampleInterval: SAMPLE_INTERVAL_MS,
      // Async, because the plugin forwards a rejected promise but not a thrown exception.
      pressureHandler: async (_request, _reply, _type, value) => {
        // Until the first sample, the plugin reports an infinite delay.
        if (Number.isFinite(value)) throw new Saturated(RETRY_AFTER_SEC);
      },
    });
  },
  { name: 'pressure', dependencies: ['errors'] },
);

/** Browsers open connections in advance. Node does not count them as idle, so a server that stops would wait. */
function collectUnusedSockets({ server }: FastifyInstance): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return unused;
}
