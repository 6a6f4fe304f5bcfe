import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { PaidOffer } from '../src/service/config/revision.ts';
import type { PaymentGate } from '../src/service/payment/gate/gate.ts';
import type { PaymentHeaders } from '../src/service/payment/gate/payment-header.ts';
import type {
  PaidRoute,
  PaidRouteAnswer,
  PayingClient,
  SignedPayment,
} from '../src/service/payment/paid-route.ts';
import { toAddressBlock, toNetwork } from '../src/service/turns/client-key.ts';
import { createDisconnectSignal, hasForwardingHeader, isOwnNetwork } from './connection.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Registers a route behind the payment gate. Fastify adds a HEAD route to each GET route. HEAD is never charged. */
    sell<Input>(
      route: PaidRoute<Input>,
      operation: { schema: FastifySchema; offer: PaidOffer },
    ): void;
    /** Finds the client's address block, for limits of paid calls; null if the address is a proxy's. */
    findPayingClient(request: FastifyRequest): PayingClient | null;
  }
}

type PaymentPluginOptions = {
  readonly gate: PaymentGate;
  /** Time from the arrival of a paid request to its 504, ms. */
  readonly answerWithinMs: number;
  /** True if TRUST_PROXY is set: `request.ip` is then the client's address. */
  readonly trustsProxy: boolean;
};

/** Length of the prefix that a provider assigns to one customer. */
const IPV6_CLIENT_BITS = 48;

/** Connects the payment gate to Fastify. This plugin handles headers, bodies and sockets; the gate handles money. */
export default fp(
  async (app: FastifyInstance, options: PaymentPluginOptions) => {
    const { gate } = options;
    const payments = new WeakMap<FastifyRequest, SignedPayment>();
    const findClient = createClientFinder(app, options);
    app.decorate('findPayingClient', findClient);
    app.decorate('sell', function sell(this: FastifyInstance, route, { schema, offer }) {
      this.route({
        method: route.method,
        url: route.path,
        schema,
        config: { offer },
        // Runs after the rate limits and before validation: an unpaid call gets its 402 for any input.
        preParsing: async (request, reply) => {
          const isHead = request.method === 'HEAD';
          const reading = await gate.readPayment(route, readPaymentHeaders(request), isHead);
          if (reading.kind === 'answer') return send(reading.answer, reply);
          payments.set(request, reading.payment);
        },
        handler: async (request, reply) => {
          const payment = payments.get(request);
          if (payment === undefined)
            throw new Error('The handler of a paid route got a request without a payment.');
          const disconnect = createDisconnectSignal(reply);
          const answer = await gate.answerCall(route, {
            payment,
            request: { body: request.body, query: request.query },
            client: findClient(request),
            deadlineMs: performance.now() - reply.elapsedTime + options.answerWithinMs,
            disconnect,
          });
          if (answer !== 'disconnected') return send(answer, reply, disconnect);
          reply.hijack();
          reply.raw.destroy();
        },
        // A request can fail before its handler. `withCharged` then says if an earlier request has spent the payment.
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
 * The finder returns null if the request came through a proxy while TRUST_PROXY is empty: all clients of the proxy
 * would count as one client. Only a peer with a private or loopback address counts as a proxy. A client on the
 * internet that sends forwarding headers counts by the address of its connection.
 */
function createClientFinder(
  app: FastifyInstance,
  { trustsProxy }: PaymentPluginOptions,
): (request: FastifyRequest) => PayingClient | null {
  let hasWarned = false;
  return (request) => {
    const { headers, ip } = request;
    const isBehindProxy = !trustsProxy && isOwnNetwork(ip) && hasForwardingHeader(headers);
    if (!isBehindProxy) return { key: toAddressBlock(ip, IPV6_CLIENT_BITS), block: toNetwork(ip) };
    if (!hasWarned) {
      hasWarned = true;
      app.log.warn(
        'paid calls come through a proxy and TRUST_PROXY is empty: fair shares count only by payer. Set TRUST_PROXY to the addresses of the proxy.',
      );
    }
    return null;
  };
}

/** Reads raw headers, because Node joins repeated headers, and two payments must not become one. */
function readPaymentHeaders({ raw }: FastifyRequest): PaymentHeaders {
  return {
    'payment-signature': readHeaderValues(raw, 'payment-signature'),
    'x-payment': readHeaderValues(raw, 'x-payment'),
  };
}

/** In `rawHeaders`, each name is followed by its value. */
function readHeaderValues(
  { headers, rawHeaders }: IncomingMessage,
  name: string,
): string[] | undefined {
  if (headers[name] === undefined) return undefined;
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

function send(
  answer: PaidRouteAnswer,
  reply: FastifyReply,
  disconnect?: AbortSignal,
): FastifyReply {
  const { status, headers, body } = answer;
  // Node emits `finish` when the operating system has the last byte, but also for a closed socket.
  if (disconnect !== undefined) {
    reply.raw.once('finish', () => {
      if (!disconnect.aborted) answer.markWritten();
    });
  }
  reply.code(status).headers(headers);
  // A string is sent as it is, because Node then writes it together with the head.
  return reply.send(typeof body === 'string' ? body : Readable.from(body));
}
