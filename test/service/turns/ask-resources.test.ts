import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { parseAllowHosts, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { PreflightEngine } from '../../../src/scanner/preflight/judge-challenge.ts';
import { createAskResources } from '../../../src/service/turns/ask-resources.ts';
import { LimitReached } from '../../../src/service/turns/origin-turns.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { createFreeTurns, openRealClient } from './turn-clients.ts';

test('each resource is requested once with its method, one after another, and the first 429 stops the requests', async () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const status = request.url === '/busy' ? 429 : 200;
    response.writeHead(status).end();
  });
  const { host } = await listenLocally(server);
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(host) };
  // The engine is never called, because no answer is a 402.
  const engine = {} as PreflightEngine;
  const turns = createFreeTurns(openRealClient({ policy, userAgent: 'test' }));
  const askResources = createAskResources(engine);
  try {
    const resources = [
      { method: 'GET', path: '/weather?city=x' },
      { method: 'POST', path: '/order' },
      { method: 'POST', path: '/busy' },
      { method: 'GET', path: '/unasked' },
    ];
    const origin = parseOrigin(`http://${host}`, policy);
    let requestsLeft = 3;
    const ask = () =>
      turns.ask(
        {
          ...{ kind: 'look', origin, blocks: new Set(['a block']) },
          async beforeConnect() {
            if (requestsLeft-- <= 0) throw new LimitReached();
          },
        },
        (client) => askResources(origin, resources, client),
      );
    const answers = await ask();
    expect(answers.map(({ path, kind }) => [path, kind])).toEqual([
      ['/weather?city=x', 'answered'],
      ['/order', 'answered'],
      ['/busy', 'unknown'],
      ['/unasked', 'unknown'],
    ]);
    expect(requests).toEqual(['GET /weather?city=x', 'POST /order', 'POST /busy']);

    // A limit that forbids a further request ends the look with the answers so far.
    requestsLeft = 1;
    const answersAfterStop = await ask();
    expect(answersAfterStop.map(({ kind }) => kind)).toEqual([
      'answered',
      'unknown',
      'unknown',
      'unknown',
    ]);
    expect(requests).toHaveLength(4);
    await expect(ask()).rejects.toThrow(LimitReached);
    expect(requests).toHaveLength(4);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});
