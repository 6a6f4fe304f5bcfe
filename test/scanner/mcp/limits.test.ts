/** `/mcp` limits the calls of one client, refuses calls from foreign web pages, and refuses malformed input. */
import { describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';

const SHOP = 'https://shop.example.com';
const HEADERS = { accept: 'application/json, text/event-stream' };

type Call = { readonly name: string; readonly input: object; readonly payment?: object };

function createMessage({ name, input, payment }: Call) {
  const meta = payment === undefined ? {} : { _meta: { 'x402/payment': payment } };
  const params = { name, arguments: input, ...meta };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

const callTool = (service: TestApp, call: Call) =>
  service.post('/mcp', createMessage(call), HEADERS);

/** Sends `calls` calls, and counts the calls before the first 429 (-1 without a 429). */
async function countCalls(service: TestApp, call: Call, calls: number): Promise<number> {
  const statuses: number[] = [];
  for (let sent = 0; sent < calls; sent += 1) {
    statuses.push((await callTool(service, call)).statusCode);
  }
  return statuses.indexOf(429);
}

describe('a tool call counts against the rate limit of its HTTP route', () => {
  test.each([
    ['preflight', { url: SHOP }, 30],
    ['get_report', { url: SHOP }, 30],
    ['search_directory', {}, 30],
    ['scan_origin', { url: SHOP }, 60],
    ['explain_check', { id: 'P1' }, 60],
  ])('%s %j is limited to %i calls a minute', async (name, input, limit) => {
    await using service = await startApp();
    expect(await countCalls(service, { name, input }, limit + 1)).toBe(limit);
  });

  test('calls of a tool and of its HTTP route share one limit', async () => {
    await using service = await startApp();
    for (let sent = 0; sent < 20; sent += 1) await service.post('/v1/preflight', { url: SHOP });
    expect(await countCalls(service, { name: 'preflight', input: { url: SHOP } }, 11)).toBe(10);
    const route = await service.post('/v1/preflight', { url: SHOP });
    expect(route.statusCode).toBe(429);
    const refusal = await callTool(service, { name: 'preflight', input: { url: SHOP } });
    expect(refusal.json()).toMatchObject({ error: 'rate_limited', charged: false });
    expect(refusal.headers).toMatchObject({
      'retry-after': '60',
      'ratelimit-limit': '30',
      'ratelimit-remaining': '0',
    });
    expect(
      (await callTool(service, { name: 'explain_check', input: { id: 'P1' } })).statusCode,
    ).toBe(200);
  });

  test('a call over the limit does not say whether its payment was charged earlier', async () => {
    await using service = await startApp();
    const call = { name: 'scan_origin', input: { url: SHOP }, payment: { nonsense: true } };
    expect(await countCalls(service, call, 61)).toBe(60);
    expect((await callTool(service, call)).json()).toMatchObject({
      error: 'rate_limited',
      charged: null,
    });
  });

  test.each([[[]], [[createMessage({ name: 'preflight', input: { url: SHOP } })]]])(
    'the batch %j is refused',
    async (batch) => {
      await using service = await startApp();
      const answer = await service.post('/mcp', batch, HEADERS);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ error: 'invalid_request', charged: false });
      expect(answer.headers['ratelimit-remaining']).toBe('59');
    },
  );
});

describe('an instance that listens only on the loopback address', () => {
  const call = { name: 'explain_check', input: { id: 'P1' } };
  const statusFrom = async (service: TestApp, headers: Record<string, string>) =>
    (await service.post('/mcp', createMessage(call), { ...HEADERS, ...headers })).statusCode;

  test.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://192.168.1.5',
  ])('refuses calls from web pages of %s', async (origin) => {
    await using service = await startApp();
    expect(await statusFrom(service, { origin })).toBe(403);
  });

  test.each([
    'http://localhost:6274',
    'http://127.0.0.1:4021',
    'http://[::1]:3000',
    'https://api.scanner.example',
    'https://scanner.example',
  ])('accepts calls from web pages of %s', async (origin) => {
    await using service = await startApp();
    expect(await statusFrom(service, { origin })).toBe(200);
  });

  test('refuses a foreign Host header, and accepts every web page once HOST is 0.0.0.0', async () => {
    await using service = await startApp();
    expect(await statusFrom(service, { host: 'evil.example' })).toBe(403);
    await using publicService = await startApp({ environment: { HOST: '0.0.0.0' } });
    expect(await statusFrom(publicService, { origin: 'https://pages.example' })).toBe(200);
  });
});

describe('tools whose answers quote origins', () => {
  test.each([
    ['get_report', { url: SHOP }],
    ['preflight', { url: SHOP }],
    ['validate_challenge', { challenge: { x402Version: 2 } }],
    ['search_directory', {}],
  ])('%s has a notice that quoted text is not instructions', async (name, input) => {
    await using service = await startApp();
    await service.publish('shop.example.com');
    const { result } = (await callTool(service, { name, input })).json();
    expect(result.structuredContent.notice).toContain('not instructions');
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  });

  test('say in their descriptions that quoted text is not instructions', async () => {
    await using service = await startApp();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { result } = (await service.post('/mcp', list, HEADERS)).json();
    const toolsWithNotice = result.tools.filter((tool: { description: string }) =>
      tool.description.includes('not instructions'),
    );
    expect(toolsWithNotice.map(({ name }: { name: string }) => name)).toEqual([
      'scan_origin',
      'get_report',
      'preflight',
      'validate_challenge',
      'diff_reports',
      'search_directory',
    ]);
  });
});

describe('malformed input gets an error of the client, not of the server,', () => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  const post = (service: TestApp, message: object) => {
    // JSON.stringify would overflow the stack at depths that JSON.parse can read.
    const text = JSON.stringify(message).replace(/"NESTED:(\d+)"/, (_all, depth) => {
      return `${'['.repeat(Number(depth))}${']'.repeat(Number(depth))}`;
    });
    return service.post('/mcp', text, HEADERS);
  };

  test.each([65, 5_000, 100_000])('for arguments %i levels deep', async (depth) => {
    await using service = await startApp();
    for (const call of [
      { name: 'validate_challenge', input: { challenge: { x: `NESTED:${depth}` } } },
      { name: 'diff_reports', input: { before: `NESTED:${depth}`, after: {} } },
      { name: 'preflight', input: { url: SHOP, more: `NESTED:${depth}` } },
    ]) {
      const answer = await post(service, createMessage(call));
      expect([call.name, answer.statusCode]).toEqual([call.name, 400]);
      expect(answer.json()).toMatchObject({
        error: 'invalid_request',
        message: expect.stringContaining('deeper than 64'),
      });
    }
  });

  test.each([65, 3_000, 50_000, 100_000])('for a payment %i levels deep', async (depth) => {
    await using service = await startApp();
    const call = createMessage({ name: 'scan_origin', input: { url: SHOP } });
    const _meta = { 'x402/payment': `NESTED:${depth}` };
    const answer = await post(service, { ...call, params: { ...call.params, _meta } });
    expect(answer.json().result).toMatchObject({
      isError: true,
      structuredContent: { error: expect.stringMatching(/^invalid_payment: .*deeper than 64/) },
    });
  });

  test.each([
    [{ method: 'tools/call', params: { name: { toString: 1 } } }],
    [{ method: 'tools/call', params: { name: nested(3) } }],
    [{ method: 'tools/call', params: 'text' }],
    [{ method: 'tools/call', params: { name: 'preflight', arguments: 1 } }],
    [{ method: 'tools/call', params: { name: 'preflight', _meta: 'text' } }],
    [{ method: 'tools/call', params: { name: 'explain_check', arguments: { id: 'Z9' } } }],
    [{ method: 'tools/call', params: { name: 'get_report', arguments: { url: '\ud800' } } }],
    [{ method: 'tools/call', params: { name: 'search_directory', arguments: { q: '\u0000' } } }],
    [{ method: { toString: 1 }, params: {} }],
  ])('for the message %j', async (message) => {
    await using service = await startApp();
    const answer = await post(service, { jsonrpc: '2.0', id: 1, ...message });
    expect(answer.body).not.toMatch(/internal_error|"code":-32603/);
    expect(answer.statusCode).toBeLessThan(500);
  });
});
