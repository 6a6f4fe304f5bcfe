/** Scans paid tools of MCP endpoints: both payment bindings, old and new protocol versions, hostile servers. */

import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { parseRecording } from '../../../src/scanner/probe/read-recording.ts';
import { toRecording } from '../../../src/scanner/probe/recording.ts';
import type { ScanOutcome } from '../../../src/scanner/scan/scanner.ts';
import { challengeAnswer } from '../../fixtures/origins/crafted-challenge.ts';
import {
  type CraftedMcp,
  craftedMcp,
  paymentRequired,
  TOOL,
  toolChallenge,
  toolResult,
} from '../../fixtures/origins/crafted-mcp.ts';
import {
  type Answering,
  type CraftedRequest,
  startCraftedSeller,
} from '../../fixtures/origins/crafted-seller.ts';
import { serve } from '../../fixtures/sellers/seller.ts';
import { NEWER_VERSION, OLDER_VERSION, resultOf, startEngine } from './engine-under-test.ts';

const LIMITS = { requestTimeoutMs: 1_500, connectTimeoutMs: 700 };
const NOT_FOUND = { status: 404, body: { error: 'Not found' } };
/** These answers leave nothing for sale over HTTP. */
const MCP_ONLY = {
  '/weather': NOT_FOUND,
  '/summaries': NOT_FOUND,
  '/openapi.json': NOT_FOUND,
  '/.well-known/x402': NOT_FOUND,
};

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

type Rpc = { readonly method: string; readonly params?: { readonly name?: string } };

function toRpcMessages(requests: readonly CraftedRequest[]): readonly Rpc[] {
  return requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
}

async function scanMcp(
  mcp: CraftedMcp | Answering,
  {
    path,
    at = '/mcp',
    moreAnswers = {},
  }: Partial<Record<'path' | 'at', string>> & { moreAnswers?: object } = {},
) {
  const answering = typeof mcp === 'function' ? mcp : craftedMcp(mcp);
  const answers = { ...MCP_ONLY, [at]: answering, ...moreAnswers };
  await using seller = await startCraftedSeller({ answers });
  const outcome = await engine.scan(seller.url, NEWER_VERSION, {
    mcp: { path: path ?? null },
    limits: LIMITS,
  });
  const { requests } = seller;
  expect(requests.length).toBeLessThanOrEqual(60);
  expect(JSON.stringify(requests)).not.toMatch(/x402\/payment"|payment-signature|x-payment"/);
  const calls = toRpcMessages(requests).filter(({ method }) => method === 'tools/call');
  return { ...outcome, requests, calledTools: calls.map(({ params }) => params?.name) };
}

const toCells = (outcome: Awaited<ReturnType<typeof scanMcp>>, ...ids: string[]) =>
  ids.map((id) => `${id} ${resultOf(outcome, id).status} ${resultOf(outcome, id).outcome}`);

const PASSING_CELLS = [
  'P2 pass challenged',
  'P3 pass valid',
  'P4 pass sound',
  'P5 pass no-settle',
  'P6 pass agrees',
  'P7 pass consistent',
  'P8 pass short-enough',
];
const PROTOCOL_IDS = ['P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8'];

describe('a good seller over MCP', () => {
  test.each<readonly [string, CraftedMcp]>([
    ['with the old protocol, without sessions', {}],
    ['with the old protocol, a session and an event stream', { sessionId: 'a-1', isStream: true }],
    ['with the new protocol, by tool results', { isModern: true }],
    ['with the new protocol, by org.x402/payment', { isModern: true, hasExtension: true }],
    [
      'with the new protocol, as an event stream',
      { isModern: true, hasExtension: true, isStream: true },
    ],
  ])('%s', async (_name, mcp) => {
    const outcome = await scanMcp(mcp);
    expect(toCells(outcome, ...PROTOCOL_IDS)).toEqual(PASSING_CELLS);
    expect(outcome.report).toMatchObject({
      payableBy: 'default',
      grade: expect.stringMatching(/[A-D]/),
    });
    expect(outcome.calledTools).toEqual(['get_weather']);
  });

  test('gets requests with the headers and members that MCP specifies', async () => {
    const { requests } = await scanMcp({ isModern: true, hasExtension: true });
    const call = requests.find(({ body }) => body.includes('tools/call'));
    expect(call?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'get_weather',
    });
    expect(JSON.parse(call?.body ?? '').params).toMatchObject({
      arguments: { city: 'example' },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { extensions: { 'org.x402/payment': {} } },
      },
    });
    const oldOutcome = await scanMcp({ sessionId: 'a-1' });
    expect(toRpcMessages(oldOutcome.requests).map(({ method }) => method)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
    ]);
    expect(
      oldOutcome.requests.find(({ body }) => body.includes('tools/call'))?.headers,
    ).toMatchObject({
      'mcp-session-id': 'a-1',
      'mcp-protocol-version': '2025-11-25',
    });
  });

  test('keeps its A if it also sells over HTTP without faults', async () => {
    const bazaar = {
      info: {
        input: { type: 'mcp', toolName: 'get_weather', inputSchema: TOOL.inputSchema },
      },
      schema: { type: 'object', properties: { input: { type: 'object' } }, required: ['input'] },
    };
    const call = () => toolResult(toolChallenge({ extensions: { bazaar } }));
    const seller = await startCraftedSeller({ answers: { '/mcp': craftedMcp({ call }) } });
    const outcome = await engine.scan(seller.url, NEWER_VERSION, { mcp: { path: null } });
    expect(outcome.report).toMatchObject({ grade: 'A', score: 100 });
    expect(outcome.report.payability).toHaveLength(3);
    const { report } = await engine.scan(seller.url);
    expect(report.payability).toHaveLength(2);
    await seller[Symbol.asyncDispose]();
  });

  test('is recorded, and its replay gives the same bytes', async () => {
    const { report, observations } = await scanMcp({ isModern: true, hasExtension: true });
    const file = JSON.parse(JSON.stringify(toRecording(report, observations)));
    expect(file.observations.probing).toEqual({ post: true, mcp: true });
    const recording = parseRecording(file, 'file');
    const replayed = await engine.replay(recording, NEWER_VERSION);
    expect(JSON.stringify(replayed.report)).toBe(JSON.stringify(report));
    const olderReplay = await engine.replay(recording, OLDER_VERSION);
    expect(resultOf(olderReplay, 'P4').basis).toBe('not_determined');
  });
});

describe('a seller over MCP whose fault is', () => {
  test.each<readonly [string, CraftedMcp, readonly string[]]>([
    [
      'a challenge that is only text',
      { call: () => toolResult(toolChallenge(), { structuredContent: undefined }) },
      ['P4 warn text-only'],
    ],
    [
      'a challenge that is not marked as an error',
      { call: () => toolResult(toolChallenge(), { isError: false }) },
      ['P4 fail not-an-error'],
    ],
    [
      'an extension that the scan did not offer',
      { call: () => paymentRequired() },
      ['P4 fail not-an-error'],
    ],
    [
      'the old binding, although scan and seller offer the new binding',
      { isModern: true, hasExtension: true, call: () => toolResult() },
      ['P4 warn other-binding'],
    ],
    [
      'the error form of old SDKs',
      { call: () => ({ error: { code: 402, message: 'pay', data: toolChallenge() } }) },
      ['P4 fail missing'],
    ],
    [
      'a settlement receipt without a payment',
      {
        call: () =>
          toolResult(toolChallenge(), { _meta: { 'x402/payment-response': { success: true } } }),
      },
      ['P5 fail settled-unpaid'],
    ],
    [
      'a tool that runs unpaid',
      { call: () => ({ content: [{ type: 'text', text: 'sunny' }] }) },
      ['P2 fail unpaid'],
    ],
    [
      'validation of arguments before payment',
      {
        call: () => toolResult({}, { content: [{ type: 'text', text: 'Input validation error' }] }),
      },
      ['P2 warn validates-only'],
    ],
    [
      'an internal error',
      { call: () => ({ error: { code: -32_603, message: 'facilitator away' } }) },
      ['P2 fail no-402'],
    ],
    [
      'another price than its list states',
      { tools: [{ ...TOOL, _meta: { 'agents-x402/priceUSD': '$0.02' } }] },
      ['P6 fail mismatch'],
    ],
    [
      'another price than its list states in a text with the sign of the dollar',
      { tools: [{ ...TOOL, _meta: { x402: { price: '$0.02 per call' } } }] },
      ['P6 fail mismatch'],
    ],
    [
      'a price in its list that may be base units',
      { tools: [{ ...TOOL, _meta: { x402: { price: '20000' } } }] },
      ['P6 warn undeclared'],
    ],
    [
      'a resource on another host',
      { call: () => toolResult(toolChallenge({ resource: { url: 'mcp://elsewhere.example/x' } })) },
      ['P3 warn other-host'],
    ],
  ])('%s', async (_name, mcp, expected) => {
    const outcome = await scanMcp(mcp);
    expect(toCells(outcome, ...expected.map((cell) => cell.split(' ')[0] ?? ''))).toEqual(expected);
  });

  test('a result that clients cannot read is payable by nobody', async () => {
    const { report } = await scanMcp({
      call: () => toolResult(toolChallenge(), { isError: false }),
    });
    expect(report.payableBy).toBe('nobody');
  });
});

describe('the scan calls', () => {
  const toTool = (name: string, changes: object) => ({
    ...TOOL,
    _meta: {},
    description: '',
    name,
    ...changes,
  });

  test('tools that are read-only and declare a price in any form', async () => {
    const tools = [
      toTool('meta', { _meta: { 'x402/price': '1000' } }),
      toTool('member', { _meta: { x402: { paymentRequired: true } } }),
      toTool('hint', { annotations: { readOnlyHint: true, paymentHint: true } }),
      toTool('described', { description: 'Costs $0.01 over x402.' }),
      toTool('free', { description: 'Free weather.' }),
      toTool('undeclared', { description: 'Weather.' }),
      toTool('denied', { _meta: { x402: { enabled: false } }, description: 'Costs $0.01.' }),
      toTool('writes', { description: 'Costs $0.01.', annotations: { readOnlyHint: false } }),
      toTool('silent', { description: 'Costs $0.01.', annotations: undefined }),
    ];
    const { calledTools, observations } = await scanMcp({ tools });
    expect(calledTools.toSorted()).toEqual(['described', 'hint', 'member', 'meta']);
    expect(observations.resources).toMatchObject({ uncalledTools: 2, declared: 6 });
  });

  test('no tool that is not declared read-only', async () => {
    const outcome = await scanMcp({
      tools: [toTool('writes', { description: '$1', annotations: {} })],
    });
    expect(outcome.calledTools).toEqual([]);
    expect(toCells(outcome, 'P2')).toEqual(['P2 warn tools-uncalled']);
    expect(resultOf(outcome, 'P3').basis).toBe('not_determined');
  });

  test('at most six tools, each once', async () => {
    const tools = Array.from({ length: 40 }, (_, index) => ({ ...TOOL, name: `tool-${index}` }));
    const { calledTools } = await scanMcp({ tools });
    expect(calledTools).toHaveLength(6);
    expect(new Set(calledTools).size).toBe(6);
  });
});

describe('the scan finds the endpoint', () => {
  test('at the path that is given', async () => {
    const outcome = await scanMcp({}, { path: '/tools/mcp', at: '/tools/mcp' });
    expect(outcome.calledTools).toEqual(['get_weather']);
    expect(outcome.requests.some(({ path }) => path === '/mcp')).toBe(false);
  });

  test('at the address of a server card, only on this origin', async () => {
    const card: Answering = ({ origin }) => ({
      status: 200,
      body: { remotes: [{ url: 'https://elsewhere.example/mcp' }, { url: `${origin}/v2/agents` }] },
    });
    const moreAnswers = { '/.well-known/mcp/server-card.json': card };
    expect((await scanMcp({}, { at: '/v2/agents', moreAnswers })).calledTools).toEqual([
      'get_weather',
    ]);
  });

  test('nowhere, and the report says so', async () => {
    const outcome = await scanMcp(() => NOT_FOUND);
    expect(toCells(outcome, 'P2')).toEqual(['P2 fail none-found']);
    expect(resultOf(outcome, 'P2').evidence).toContain('MCP at /mcp: 404, no MCP server');
  });

  test('not behind a redirect, which it reports and does not follow', async () => {
    const outcome = await scanMcp(() => ({ status: 307, headers: { location: '/mcp/' } }));
    const { evidence } = resultOf(outcome, 'P2');
    expect(evidence).toContain('MCP at /mcp: 307 to "/mcp/", which --mcp may name');
    expect(outcome.requests.some(({ path }) => path === '/mcp/')).toBe(false);
  });

  test('on an older server that answers 404 without a session', async () => {
    const mcpAnswering = craftedMcp({ sessionId: 'a-1' });
    const answering: Answering = (request, usual) => {
      const answer = mcpAnswering(request, usual);
      return answer?.status === 400 ? { ...answer, status: 404 } : answer;
    };
    expect((await scanMcp(answering)).calledTools).toEqual(['get_weather']);
  });

  test('behind a payment over HTTP, and judges it as a paid resource', async () => {
    const paymentGate: Answering = ({ method, origin }) => {
      const resource = { url: `${origin}/mcp`, description: 'Tools' };
      return method === 'POST' ? challengeAnswer(toolChallenge({ resource })) : NOT_FOUND;
    };
    const outcome = await scanMcp(paymentGate);
    expect(toCells(outcome, 'P2', 'P3', 'P4')).toEqual([
      'P2 pass challenged',
      'P3 pass valid',
      'P4 pass sound',
    ]);
    expect(outcome.report.payability).toMatchObject([{ method: 'POST', path: '/mcp' }]);

    const mcpAnswering = craftedMcp();
    const paidCallsOnly: Answering = (request, usual) =>
      request.body.includes('"tools/call"')
        ? paymentGate(request, usual)
        : mcpAnswering(request, usual);
    const soldCalls = await scanMcp(paidCallsOnly);
    expect(toCells(soldCalls, 'P2', 'P3', 'P4')).toEqual(toCells(outcome, 'P2', 'P3', 'P4'));
    expect(soldCalls.report.payableBy).toBe('default');
  });

  test('only with --mcp', async () => {
    const seller = await startCraftedSeller({ answers: { ...MCP_ONLY, '/mcp': craftedMcp() } });
    await engine.scan(seller.url);
    expect(toRpcMessages(seller.requests)).toEqual([]);
    expect(seller.requests.map(({ path }) => path)).not.toContain('/mcp');
    await seller[Symbol.asyncDispose]();
  });
});

describe('a hostile server', () => {
  const json = (body: string) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body,
  });
  const mcpAnswering = craftedMcp();
  const answerOnly =
    (method: string, answer: Answering): Answering =>
    (request, usual) =>
      request.body.includes(`"${method}"`) ? answer(request, usual) : mcpAnswering(request, usual);
  const readId = ({ body }: CraftedRequest) => JSON.parse(body).id;

  test.each<readonly [string, Answering]>([
    ['junk', () => json('{"jsonrpc": "2.0", "id"')],
    [
      'the answer to another question',
      () => json('{"jsonrpc":"2.0","id":99,"result":{"tools":[]}}'),
    ],
    ['nested without end', () => json('['.repeat(200_000))],
    [
      '10,000 tools',
      (request) =>
        json(
          JSON.stringify({
            jsonrpc: '2.0',
            id: readId(request),
            result: {
              tools: Array.from({ length: 10_000 }, (_, at) => ({ ...TOOL, name: `t${at}` })),
            },
          }),
        ),
    ],
    ['a body of 8 MiB', () => json(`"${'x'.repeat(8 * 1_048_576)}"`)],
    [
      'members of wrong types',
      (request) =>
        json(
          `{"jsonrpc":"2.0","id":${readId(request)},"result":{"tools":[null,1,{"name":{},"_meta":[],"annotations":7,"inputSchema":"x","description":[]}],"nextCursor":{}}}`,
        ),
    ],
  ])('answers tools/list with %s', async (_name, answer) => {
    const { report, calledTools } = await scanMcp(answerOnly('tools/list', answer));
    expect(report.results).toHaveLength(25);
    expect(calledTools).toEqual([]);
  });

  test('has an endless list of pages', async () => {
    const endlessList = answerOnly('tools/list', (request) =>
      json(
        JSON.stringify({
          jsonrpc: '2.0',
          id: readId(request),
          result: { tools: [], nextCursor: 'more' },
        }),
      ),
    );
    const { requests } = await scanMcp(endlessList);
    expect(toRpcMessages(requests).filter(({ method }) => method === 'tools/list')).toHaveLength(5);
  });

  test('has a schema that no value satisfies', async () => {
    const inputSchema = {
      type: 'object',
      required: Array.from({ length: 5_000 }, (_, at) => `p${at}`).concat('__proto__'),
      properties: {
        p0: { type: 'array', minItems: 1e9, items: { $ref: '#' } },
        p1: { minLength: 1e9 },
      },
    };
    const { requests } = await scanMcp({ tools: [{ ...TOOL, inputSchema }] });
    const call = requests.find(({ body }) => body.includes('tools/call'));
    expect(call?.body.length).toBeLessThan(4_096);
  });

  test('gives a session id that is not a header value, and does not get it back', async () => {
    const answering: Answering = (request, usual) => {
      const answer = mcpAnswering(request, usual);
      return (
        answer && { ...answer, headers: { ...answer.headers, 'mcp-session-id': 'caf\u00e9 x' } }
      );
    };
    const { requests, calledTools } = await scanMcp(answering);
    expect(calledTools).toEqual(['get_weather']);
    expect(requests.every(({ headers }) => headers['mcp-session-id'] === undefined)).toBe(true);
  });

  /** Answers tools/call with a stream that continues until the scanner hangs up. */
  async function scanStream(firstEvent: string, repeatedEvent: string): Promise<ScanOutcome> {
    const seller = await serve(async (request, response) => {
      const isRpc = request.method === 'POST' && request.url === '/mcp';
      if (!isRpc) return void response.writeHead(404).end();
      const body = await text(request);
      if (body.includes('"tools/call"')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(firstEvent.replace('ID', String(JSON.parse(body).id)));
        const timer = setInterval(() => response.write(repeatedEvent), 5);
        response.on('close', () => clearInterval(timer));
        return;
      }
      const craftedRequest = { method: 'POST', path: '/mcp', headers: request.headers, body };
      const answer = mcpAnswering({ ...craftedRequest, number: 1, origin: '' }, NOT_FOUND);
      response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer?.body ?? {}));
    });
    const outcome = await engine.scan(seller.url, NEWER_VERSION, {
      mcp: { path: null },
      limits: LIMITS,
    });
    await seller[Symbol.asyncDispose]();
    return outcome;
  }

  test('sends a challenge in an endless stream, and the scan still reads it', async () => {
    const response = `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify(toolResult())}}`;
    const outcome = await scanStream(`data: ${response}\n\n`, ': still here\n\n');
    expect(resultOf(outcome, 'P2').outcome).toBe('challenged');
  });

  test.each([
    ['notifications', 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'],
    ['blank lines', '\n'.repeat(4_096)],
    ['one line', `data: ${'x'.repeat(16_384)}`],
  ])('sends a stream of %s without end', async (_name, again) => {
    const outcome = await scanStream('', again);
    expect(outcome.report.results).toHaveLength(25);
    expect(resultOf(outcome, 'P2').outcome).toBe('no-402');
  });
});
