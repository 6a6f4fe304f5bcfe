import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Saturated } from '../../src/errors/errors.ts';
import { parseAllowHosts, parseOrigin } from '../../src/guard/origin.ts';
import { createAskResources } from '../../src/looks/ask-resources.ts';
import type { PreflightEngine } from '../../src/preflight/judge-challenge.ts';
import { createProbeClient } from '../../src/probe/client/client.ts';

test('each resource is requested once with its method, one after another, and the first 429 stops the requests', async () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const status = request.url === '/busy' ? 429 : 200;
    response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(host) };
  // The engine is never called, because no answer is a 402.
  const engine = {} as PreflightEngine;
  const clientOptions = { createClient: createProbeClient, policy, userAgent: 'test' };
  const ask = createAskResources({ engine, ...clientOptions });
  try {
    const resources = [
      { method: 'GET', path: '/weather?city=x' },
      { method: 'POST', path: '/order' },
      { method: 'POST', path: '/busy' },
      { method: 'GET', path: '/unasked' },
    ];
    const origin = parseOrigin(`http://${host}`, policy);
    const { answers } = await ask(origin, resources, async () => true);
    expect(answers.map(({ path, kind }) => [path, kind])).toEqual([
      ['/weather?city=x', 'answered'],
      ['/order', 'answered'],
      ['/busy', 'unknown'],
      ['/unasked', 'unknown'],
    ]);
    expect(requests).toEqual(['GET /weather?city=x', 'POST /order', 'POST /busy']);

    // The third argument decides before each request whether it may be sent. Here it allows only one request.
    let requestsLeft = 1;
    const { answers: answersAfterStop } = await ask(
      origin,
      resources,
      async () => requestsLeft-- > 0,
    );
    expect(answersAfterStop.map(({ kind }) => kind)).toEqual([
      'answered',
      'unknown',
      'unknown',
      'unknown',
    ]);
    expect(requests).toHaveLength(4);
    await expect(ask(origin, resources, async () => false)).rejects.toThrow(Saturated);
    expect(requests).toHaveLength(4);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});
