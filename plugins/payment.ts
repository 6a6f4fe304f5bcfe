import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { PaidOffer } from '../src/config/revision.ts';
import type { PaymentGate } from '../src/payment/gate.ts';
import type { PaidRoute } from '../src/payment/paid-route.ts';
import { ClientGone, type PaidAnswer, type PaidCall } from '../src/payment/paid-route.ts';
import type { PaymentHeaders } from '../src/payment/payment-header.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Puts a route behind the payment gate. A GET brings its HEAD along, which is never paid. */
    sell<Input>(
      route: PaidRoute<Input>,
      documented: { schema: FastifySchema; offer: PaidOffer },
    ): void;
  }
}

export type PaymentPluginOptions = {
  readonly gate: PaymentGate;
  /** When a paid request is answered 504, from its arrival. */
  readonly answerWithinMs: number;
};

/** Between Fastify and the payment gate: knows headers, bodies and sockets, and nothing of money. */
export default fp(
  async (app: FastifyInstance, options: PaymentPluginOptions) => {
    const { gate } = options;
    app.decorate('sell', function sell(this: FastifyInstance, route, { schema, offer }) {
      this.route({
        method: route.method,
        url: route.path,
        schema,
        config: { offer },
        // After the rate limits, before body and query are looked at.
        preParsing: async (request, reply) => {
          const isHead = request.method === 'HEAD';
          const answer = await gate.preview(route, paymentLines(request), isHead);
          if (answer !== null) return send(answer, reply);
        },
        handler: async (request, reply) => {
          try {
            const call = callOf(request, reply, options);
            return send(await gate.handle(route, call), reply, call.gone);
          } catch (error) {
            if (!(error instanceof ClientGone)) throw error;
            reply.hijack();
            reply.raw.destroy();
          }
        },
      });
    });
  },
  { name: 'payment', dependencies: ['errors', 'offers'] },
);

function callOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { answerWithinMs }: PaymentPluginOptions,
): PaidCall {
  const gone = new AbortController();
  const { raw } = reply;
  const onClose = () => {
    if (!raw.writableFinished) gone.abort();
  };
  raw.once('close', onClose);
  // It may have closed while the body was read.
  if (raw.destroyed || raw.socket?.destroyed) onClose();
  return {
    headers: paymentLines(request),
    request: { body: request.body, query: request.query },
    deadlineMs: performance.now() - reply.elapsedTime + answerWithinMs,
    gone: gone.signal,
  };
}

/** Each line by itself: Node joins repeated headers, and two payments must not become one. */
function paymentLines({ raw }: FastifyRequest): PaymentHeaders {
  return {
    'payment-signature': linesOf(raw.rawHeaders, 'payment-signature'),
    'x-payment': linesOf(raw.rawHeaders, 'x-payment'),
  };
}

/** `rawHeaders` holds names and values in turn. */
function linesOf(rawHeaders: readonly string[], name: string): string[] | undefined {
  const lines = rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
  return lines.length === 0 ? undefined : lines;
}

function send(answer: PaidAnswer, reply: FastifyReply, gone?: AbortSignal): FastifyReply {
  const { status, headers, body } = answer;
  // The last byte is in the hands of the operating system; Node says so of closed sockets too.
  reply.raw.once('finish', () => {
    if (gone?.aborted === false) answer.written();
  });
  reply.code(status).headers({ ...headers });
  return reply.send(typeof body === 'string' ? Buffer.from(body) : Readable.from(body));
}
