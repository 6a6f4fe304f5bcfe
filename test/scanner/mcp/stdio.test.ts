/** The client of the official SDK calls the tools over standard input and output. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { challengeOf } from '../../fixtures/origins/crafted-challenge.ts';
import { toolChallenge } from '../../fixtures/origins/crafted-mcp.ts';
import { type CraftedSeller, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../fixtures/sellers/seller-documents.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

let client: Client;
let seller: CraftedSeller;
beforeAll(async () => {
  seller = await startCraftedSeller();
  client = new Client({ name: 'test', version: '1' });
  const command = {
    command: process.execPath,
    args: ['src/cli/main.ts', 'mcp', '--allow-private'],
  };
  const settings = { X402SCAN_URL: '', BAZAAR_URL: '', ECOSYSTEM_URL: '' };
  const env = { PATH: process.env['PATH'] ?? '', ...settings };
  await client.connect(new StdioClientTransport({ ...command, cwd: ROOT, env }));
});
afterAll(async () => {
  await client.close();
  await seller[Symbol.asyncDispose]();
});

async function call(name: string, input: Record<string, unknown>) {
  const { isError = false, structuredContent } = await client.callTool({ name, arguments: input });
  return { isError, value: structuredContent };
}

describe('x402-scan mcp', () => {
  test('lists its tools, each with an input and an output schema', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'scan_origin',
      'get_report',
      'explain_check',
      'preflight',
      'validate_challenge',
      'diff_reports',
      'search_directory',
    ]);
    for (const { inputSchema, outputSchema } of tools) {
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
    }
  });

  test('scans for free, remembers the report and compares reports', async () => {
    expect(await call('get_report', { url: seller.url })).toMatchObject({ isError: true });
    const scan = await call('scan_origin', { url: seller.url });
    expect(scan).toMatchObject({
      isError: false,
      value: { origin: seller.url, payableBy: 'default' },
    });
    expect((await call('get_report', { url: seller.url })).value).toEqual(scan.value);
    const reports = { before: scan.value, after: { ...(scan.value as object), grade: 'F' } };
    expect(await call('diff_reports', reports)).toMatchObject({
      value: { regressions: [expect.stringMatching(/^grade . -> F$/)] },
    });
  });

  test('explains a check', async () => {
    expect(await call('explain_check', { id: 'p6' })).toMatchObject({
      value: { id: 'P6', title: 'price-integrity' },
    });
  });

  test('preflights a URL, and judges a challenge that the caller passes', async () => {
    const url = `${seller.url}/weather`;
    expect(await call('preflight', { url })).toMatchObject({ value: { verdict: 'go' } });
    const challenge = challengeOf(WEATHER, seller.url);
    expect(await call('validate_challenge', { challenge, url })).toMatchObject({
      value: { verdict: 'go' },
    });
    expect(
      await call('validate_challenge', { challenge, url: 'https://other.example.com/' }),
    ).toMatchObject({
      value: {
        verdict: 'no-go',
        reasons: [{ code: 'other_origin' }, { code: 'flawed_challenge' }],
      },
    });
  });

  test.each([
    [{ toString: 1 }],
    [{ toString: null, valueOf: null }],
    [['https://a.example.com']],
    [7],
  ])('judges a challenge whose resource has the url %j', async (url) => {
    const challenge = { ...challengeOf(WEATHER, seller.url), resource: { url } };
    const { isError, value } = await call('validate_challenge', { challenge });
    expect([isError, value]).toEqual([
      false,
      expect.objectContaining({ terms: expect.anything() }),
    ]);
  });

  test.each([65, 4_000])('refuses arguments that nest %i levels deep', async (depth) => {
    const deep: unknown = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect(await call('validate_challenge', { challenge: { deep } })).toMatchObject({
      isError: true,
      value: { error: 'invalid_request', message: 'arguments are deeper than 64' },
    });
  });

  test('judges a challenge that an MCP tool gave', async () => {
    const judgeToolChallenge = async (members: object, url?: string) => {
      const challenge = toolChallenge(members);
      const { value } = await call('validate_challenge', { challenge, ...(url ? { url } : {}) });
      return value;
    };
    expect(await judgeToolChallenge({})).toMatchObject({ verdict: 'go' });
    expect(await judgeToolChallenge({}, `${seller.url}/mcp`)).toMatchObject({ verdict: 'go' });
    const otherResource = { resource: { url: 'mcp://elsewhere.example/x', description: 'x' } };
    expect(await judgeToolChallenge(otherResource, `${seller.url}/mcp`)).toMatchObject({
      verdict: 'no-go',
      reasons: [{ code: 'other_origin' }, { code: 'flawed_challenge' }],
    });
  });

  test('reports missing arguments and an unknown tool name', async () => {
    expect(await call('preflight', {})).toMatchObject({
      isError: true,
      value: { error: 'invalid_request' },
    });
    expect(await call('search_directory', {})).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('There is no tool');
  });
});
