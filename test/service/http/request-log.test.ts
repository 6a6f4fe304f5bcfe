/** Every log line of a request carries the id of the request. */
import Fastify, { LogController } from 'fastify';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logging } from '../../../plugins/metrics.ts';

test("a handler's line, a child logger's line and the request's own line have the same id", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => 'one',
  });
  await app.register(logging);
  app.get('/', async (request) => {
    request.log.warn({ code: 'x' }, 'of a handler');
    request.log.child({ part: 'p' }).error('of a child');
    request.log.debug('below the level');
    return { level: request.log.level };
  });
  const answer = await app.inject('/');
  await app.close();
  expect(answer.json()).toEqual({ level: 'info' });
  expect(lines).toMatchObject([
    { level: 40, reqId: 'one', code: 'x', msg: 'of a handler' },
    { level: 50, reqId: 'one', part: 'p', msg: 'of a child' },
    { level: 30, reqId: 'one', method: 'GET', route: '/', status: 200 },
  ]);
});
