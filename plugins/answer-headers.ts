import type { FastifyInstance, FastifyReply } from 'fastify';
import fp from 'fastify-plugin';

type HeaderTexts = Readonly<Record<Lowercase<string>, string>>;

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds headers to every answer. */
    addAnswerHeaders(headers: HeaderTexts): void;
  }
  interface FastifyReply {
    /** What is left to the client; null where nothing was counted. */
    rateHeaders: Readonly<Record<string, number>> | null;
    /** All of them, for those who write the answer themselves. */
    answerHeaders(): ReturnType<FastifyReply['getHeaders']>;
  }
}

export default fp(
  async (app: FastifyInstance) => {
    if (app.hasReplyDecorator('rateHeaders')) return;
    let always: HeaderTexts = {};
    app.decorate('addAnswerHeaders', (headers) => {
      always = { ...always, ...headers };
    });
    app.decorateReply('rateHeaders', null);
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
