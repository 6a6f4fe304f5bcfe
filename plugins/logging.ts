/** One line a request, without secrets: who was answered what, and how long it took. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/**
 * One line a request: its route as registered, never its URL, which holds what callers submitted
 * (kept for 24 hours only), and no address of theirs.
 */
export default fp(
  async (app: FastifyInstance) => {
    app.setChildLoggerFactory((log, bindings, options) => new RequestLog(log, bindings, options));
    if (app.log.level === 'silent') return;
    app.addHook('onResponse', ({ id, method, routeOptions }, reply, next) => {
      const ms = Math.round(reply.elapsedTime);
      // The log of the app, with the name that the log of a request binds to each line.
      app.log.info({
        reqId: id,
        method,
        route: routeOptions.url ?? null,
        status: reply.statusCode,
        ms,
      });
      next();
    });
  },
  { name: 'logging' },
);

type Line = readonly [fields: unknown, message?: string, ...values: unknown[]];

/** The log of a request, made with its first line: most requests write none. */
class RequestLog implements FastifyBaseLogger {
  readonly #parts: Parameters<FastifyBaseLogger['child']>;
  readonly #parent: FastifyBaseLogger;
  #log: FastifyBaseLogger | null = null;

  constructor(parent: FastifyBaseLogger, ...parts: Parameters<FastifyBaseLogger['child']>) {
    this.#parent = parent;
    this.#parts = parts;
  }

  get level(): string {
    return this.#made().level;
  }

  set level(level: string) {
    this.#made().level = level;
  }

  trace(...line: Line): void {
    this.#made().trace(...line);
  }

  debug(...line: Line): void {
    this.#made().debug(...line);
  }

  info(...line: Line): void {
    this.#made().info(...line);
  }

  warn(...line: Line): void {
    this.#made().warn(...line);
  }

  error(...line: Line): void {
    this.#made().error(...line);
  }

  fatal(...line: Line): void {
    this.#made().fatal(...line);
  }

  silent(): void {}

  child(...parts: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#made().child(...parts);
  }

  #made(): FastifyBaseLogger {
    this.#log ??= this.#parent.child(...this.#parts);
    return this.#log;
  }
}
