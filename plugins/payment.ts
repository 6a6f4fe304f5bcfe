import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { PaidOffer } from '../src/config/revision.ts';
import { addressBlock } from '../src/limits/client-key.ts';
import type { PaymentGate } from '../src/payment/gate/gate.ts';
import type { PaymentHeaders } from '../src/payment/gate/payment-header.ts';
import type { PaidAnswer, PaidRoute, SignedPayment } from '../src/payment/paid-route.ts';
import { disconnectSignal, hasForwardingHeader, isOwnNetwork } from './connection.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Puts a route behind the payment gate. A GET brings its HEAD along, which is never paid. */
    sell<Input>(
      route: PaidRoute<Input>,
      documented: { schema: FastifySchema; offer: PaidOffer },
    ): void;
    /** Finds the client that a paid call counts against; null if the address is a proxy's. */
    payingClient(request: FastifyRequest): string | null;
  }
}

export type PaymentPluginOptions = {
  readonly gate: PaymentGate;
  /** Time from the arrival of a paid request to its 504, ms. */
  readonly answerWithinMs: number;
  /** True if TRUST_PROXY is set: `request.ip` is then the client's address. */
  readonly trustsProxy: boolean;
};

/** Prefix length that providers assign to one customer. */
const IPV6_CLIENT_BITS = 48;

/** Adapts the payment gate to Fastify: headers, bodies and sockets are handled here, money in the gate. */
export default fp(
  async (app: FastifyInstance, options: PaymentPluginOptions) => {
    const { gate } = options;
    const payments = new WeakMap<FastifyRequest, SignedPayment>();
    const clientOf = clientReader(app, options);
    app.decorate('payingClient', clientOf);
    app.decorate('sell', function sell(this: FastifyInstance, route, { schema, offer }) {
      this.route({
        method: route.method,
        url: route.path,
        schema,
        config: { offer },
        // Runs after the rate limits and before validation, so that unpaid calls get their 402 for any input.
        preParsing: async (request, reply) => {
          const isHead = request.method === 'HEAD';
          const preview = await gate.preview(route, paymentLines(request), isHead);
          if (preview.kind === 'answer') return send(preview.answer, reply);
          payments.set(request, preview.payment);
        },
        handler: async (request, reply) => {
          const payment = payments.get(request);
          if (payment === undefined) throw new Error('A paid handler was reached unpaid.');
          const disconnect = disconnectSignal(reply);
          const answer = await gate.handle(route, {
            payment,
            request: { body: request.body, query: request.query },
            client: clientOf(request),
            deadlineMs: performance.now() - reply.elapsedTime + options.answerWithinMs,
            disconnect,
          });
          if (answer !== 'disconnected') return send(answer, reply, disconnect);
          reply.hijack();
          reply.raw.destroy();
        },
        // A request that is refused before the handler may carry a payment that was charged before.
        errorHandler: async (error, request) => {
          const payment = payments.get(request);
          throw payment === undefined ? error : await gate.withCharged(error, payment);
        },
      });
    });
  },
  { name: 'payment', dependencies: ['errors', 'offers'] },
);

/**
 * The reader returns null behind a proxy that TRUST_PROXY does not name, because all its clients would
 * count as one. Only a peer in our own network can be such a proxy: a client on the internet that sends
 * forwarding headers is counted by its address.
 */
function clientReader(
  app: FastifyInstance,
  { trustsProxy }: PaymentPluginOptions,
): (request: FastifyRequest) => string | null {
  let isTold = false;
  return (request) => {
    const { headers, ip } = request;
    const isBehindProxy = !trustsProxy && isOwnNetwork(ip) && hasForwardingHeader(headers);
    if (!isBehindProxy) return addressBlock(ip, IPV6_CLIENT_BITS);
    if (!isTold) {
      app.log.warn(
        'paid calls come through a proxy and TRUST_PROXY is empty: fair shares count only by payer. Set TRUST_PROXY to the addresses of the proxy.',
      );
    }
    isTold = true;
    return null;
  };
}

/** Reads raw header lines: Node joins repeated headers, and two payments must not become one. */
function paymentLines({ raw }: FastifyRequest): PaymentHeaders {
  return {
    'payment-signature': linesOf(raw, 'payment-signature'),
    'x-payment': linesOf(raw, 'x-payment'),
  };
}

/** `rawHeaders` holds names and values in turn. */
function linesOf({ headers, rawHeaders }: IncomingMessage, name: string): string[] | undefined {
  if (headers[name] === undefined) return undefined;
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

function send(answer: PaidAnswer, reply: FastifyReply, disconnect?: AbortSignal): FastifyReply {
  const { status, headers, body } = answer;
  // `finish` means that the operating system has the last byte; Node emits it for closed sockets too.
  if (disconnect !== undefined) {
    reply.raw.once('finish', () => {
      if (!disconnect.aborted) answer.markWritten();
    });
  }
  reply.code(status).headers(headers);
  // Node sends a string body and its head in one write.
  return reply.send(typeof body === 'string' ? body : Readable.from(body));
}
