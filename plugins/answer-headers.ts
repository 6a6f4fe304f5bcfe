/** Headers of every answer, and answers whose head is written once. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import fp from 'fastify-plugin';
import {
  type HeaderTexts,
  KeepAliveHeaders,
  PreparedHead,
  type RateHeaders,
} from '../src/http/prepared-head.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds headers to every answer; before any head is prepared. */
    addAnswerHeaders(headers: HeaderTexts): void;
    /** The head of answers that differ in their body alone, with the headers of every answer. */
    prepareHead(status: number, headers: HeaderTexts): PreparedHead;
  }
  interface FastifyReply {
    /** What is left to the client; null where nothing was counted. */
    rateHeaders: RateHeaders | null;
    /** Answers at once, without the hooks of `onSend`. */
    sendPrepared(head: PreparedHead, body: string | Buffer): FastifyReply;
    /** All of them, for those who write the answer themselves. */
    answerHeaders(): ReturnType<FastifyReply['getHeaders']>;
  }
}

/**
 * They are set as the answer leaves; a header that the reply has by then stays as it is. Plugins that need
 * this one register it, the first of them with effect.
 */
export default fp(
  async (app: FastifyInstance) => {
    if (app.hasDecorator('prepareHead')) return;
    let always: HeaderTexts = {};
    const keepAlive = new KeepAliveHeaders(app.server);
    app.decorate('addAnswerHeaders', (headers) => {
      always = { ...always, ...headers };
    });
    app.decorate(
      'prepareHead',
      (status, headers) => new PreparedHead(status, { ...always, ...headers }, keepAlive),
    );
    app.decorateReply('rateHeaders', null);
    app.decorateReply('sendPrepared', function sendPrepared(this: FastifyReply, head, body) {
      this.hijack();
      head.send(this.raw, body, this.rateHeaders);
      return this;
    });
    app.decorateReply('answerHeaders', function answerHeaders(this: FastifyReply) {
      return { ...always, ...this.rateHeaders, ...this.getHeaders() };
    });
    app.addHook('onSend', (_request, reply, payload, next) => {
      reply.headers(reply.answerHeaders());
      next(null, payload);
    });
  },
  { name: 'answer-headers' },
);
