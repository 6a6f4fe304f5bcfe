/** The scan requests the fixed paths of an origin. It omits paths if the origin is silent, or if OpenAPI is already found. */
import { describe, expect, test } from 'vitest';
import { RequestCache } from '../../../src/scanner/probe/client/request-cache.ts';
import { askFixedPaths, OPENAPI_ALTERNATES } from '../../../src/scanner/probe/first-wave.ts';
import { clientFor, startOrigin, type TestOrigin } from './client/harness.ts';

const OPENAPI = JSON.stringify({ openapi: '3.1.0', info: {}, paths: {} });

function ask(target: TestOrigin) {
  const client = clientFor(target, { limits: { requestTimeoutMs: 400 } });
  return askFixedPaths(new RequestCache(client, target.origin));
}

describe('an origin whose root is silent', () => {
  test('gets only two requests if all other paths are silent too', async () => {
    const target = await startOrigin(() => {});
    const wave = await ask(target);
    expect(target.requests).toHaveLength(2);
    const { openapiAlternates, ...singleAnswers } = wave;
    const answers = [
      ...Object.values(singleAnswers),
      ...openapiAlternates.map(({ answer }) => answer),
    ];
    expect(answers).toHaveLength(14);
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
    expect(wave.robots).toHaveProperty('detail', expect.stringContaining('not asked'));
  });

  test('gets one request at a time if it answers every other path', async () => {
    let open = 0;
    let mostOpen = 0;
    const target = await startOrigin((request, response) => {
      if (request.url === '/') return;
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      setImmediate(() => {
        open -= 1;
        response.writeHead(404).end();
      });
    });
    const wave = await ask(target);
    expect(mostOpen).toBe(1);
    expect(target.requests).toHaveLength(14);
    expect(wave.robots).toMatchObject({ ok: true, data: { status: 404 } });
  });

  test('gets no further requests after one of its other paths hangs', async () => {
    const target = await startOrigin((request, response) => {
      if (request.url === '/' || request.url === '/llms.txt') return;
      response.writeHead(404).end();
    });
    const wave = await ask(target);
    expect(wave.openapi.ok).toBe(true);
    expect(wave.llmsTxt).toHaveProperty('detail', expect.not.stringContaining('not asked'));
    expect(wave.agentCard).toHaveProperty('detail', expect.stringContaining('not asked'));
    expect(target.requests.at(-1)).toBe('GET /llms.txt');
  });
});

describe('at the alternate paths of OpenAPI,', () => {
  const alternates = [...OPENAPI_ALTERNATES];

  test.each([
    ['/openapi.json', OPENAPI, []],
    ['/openapi.json', ` ${OPENAPI}\n`, []],
    ['/openapi.json', '{"openapi" : "3.0.4", "paths": {"/": {}}}', []],
    ['/openapi.json', '{"swagger":"2.0","paths":{}}', alternates],
    ['/openapi.json', '<html>"openapi":"3.1.0" "paths"</html>', alternates],
    ['/openapi.json', OPENAPI.slice(0, -2), alternates],
    ['/.well-known/openapi.json', OPENAPI, alternates.slice(0, 1)],
    ['/swagger.json', OPENAPI, alternates.slice(0, 3)],
    ['/nowhere', OPENAPI, alternates],
  ])('if %s serves %s, the scan requests %j', async (path, body, requestedPaths) => {
    const target = await startOrigin((request, response) => {
      response.writeHead(request.url === path ? 200 : 404).end(body);
    });
    const wave = await ask(target);
    expect(wave.openapiAlternates.map((alternate) => alternate.path)).toEqual(requestedPaths);
    expect(
      target.requests.filter((line) => alternates.some((alternate) => line.endsWith(alternate))),
    ).toEqual(requestedPaths.map((alternate) => `GET ${alternate}`));
  });

  test('the scan reads one document at a time', async () => {
    let open = 0;
    let mostOpen = 0;
    const target = await startOrigin((request, response) => {
      const isDocument =
        request.url === '/openapi.json' ||
        alternates.some((alternate) => alternate === request.url);
      if (isDocument) open += 1;
      mostOpen = Math.max(mostOpen, open);
      setTimeout(() => {
        if (isDocument) open -= 1;
        response.end('{}');
      }, 10);
    });
    await ask(target);
    expect(mostOpen).toBe(1);
  });
});
