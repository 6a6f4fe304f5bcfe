/** The scan requests the fixed paths in this order, and omits some. */
import { describe, expect, test } from 'vitest';
import { RequestCache } from '../../src/probe/client/request-cache.ts';
import { askFixedPaths, OPENAPI_ALTERNATES } from '../../src/probe/first-wave.ts';
import { clientFor, startOrigin, type TestOrigin } from './client/harness.ts';

const OPENAPI = JSON.stringify({ openapi: '3.1.0', info: {}, paths: {} });

function ask(target: TestOrigin) {
  const client = clientFor(target, { limits: { requestTimeoutMs: 400 } });
  return askFixedPaths(new RequestCache(client, target.origin));
}

describe('an origin whose root is silent', () => {
  test('gets two requests if it answers nothing else', async () => {
    const target = await startOrigin(() => {});
    const seen = await ask(target);
    expect(target.requests).toHaveLength(2);
    const { openapiAlternates, ...rest } = seen;
    const answers = [...Object.values(rest), ...openapiAlternates.map(({ answer }) => answer)];
    expect(answers).toHaveLength(13);
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
    expect(seen.robots).toHaveProperty('detail', expect.stringContaining('not asked'));
  });

  test('gets one request at a time if it answers every other path', async () => {
    let open = 0;
    let most = 0;
    const target = await startOrigin((request, response) => {
      if (request.url === '/') return;
      open += 1;
      most = Math.max(most, open);
      setImmediate(() => {
        open -= 1;
        response.writeHead(404).end();
      });
    });
    const seen = await ask(target);
    expect(most).toBe(1);
    expect(target.requests).toHaveLength(13);
    expect(seen.robots).toMatchObject({ ok: true, data: { status: 404 } });
  });

  test('gets no later requests if it hangs on one of many paths', async () => {
    const target = await startOrigin((request, response) => {
      if (request.url === '/' || request.url === '/llms.txt') return;
      response.writeHead(404).end();
    });
    const seen = await ask(target);
    expect(seen.openapi.ok).toBe(true);
    expect(seen.llmsTxt).toHaveProperty('detail', expect.not.stringContaining('not asked'));
    expect(seen.agentCard).toHaveProperty('detail', expect.stringContaining('not asked'));
    expect(target.requests.at(-1)).toBe('GET /llms.txt');
  });
});

describe('documents at other places of OpenAPI', () => {
  const places = [...OPENAPI_ALTERNATES];

  test.each([
    ['/openapi.json', OPENAPI, []],
    ['/openapi.json', ` ${OPENAPI}\n`, []],
    ['/openapi.json', '{"openapi" : "3.0.4", "paths": {"/": {}}}', []],
    ['/openapi.json', '{"swagger":"2.0","paths":{}}', places],
    ['/openapi.json', '<html>"openapi":"3.1.0" "paths"</html>', places],
    ['/openapi.json', OPENAPI.slice(0, -2), places],
    ['/.well-known/openapi.json', OPENAPI, places.slice(0, 1)],
    ['/swagger.json', OPENAPI, places.slice(0, 3)],
    ['/nowhere', OPENAPI, places],
  ])('on %s serving %s: the scan requests %j', async (path, body, asked) => {
    const target = await startOrigin((request, response) => {
      response.writeHead(request.url === path ? 200 : 404).end(body);
    });
    const seen = await ask(target);
    expect(seen.openapiAlternates.map((one) => one.path)).toEqual(asked);
    expect(target.requests.filter((line) => places.some((one) => line.endsWith(one)))).toEqual(
      asked.map((one) => `GET ${one}`),
    );
  });

  test('are never read two at a time', async () => {
    let open = 0;
    let most = 0;
    const target = await startOrigin((request, response) => {
      const isPlace = request.url === '/openapi.json' || places.some((one) => one === request.url);
      if (isPlace) open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        if (isPlace) open -= 1;
        response.end('{}');
      }, 10);
    });
    await ask(target);
    expect(most).toBe(1);
  });
});
