/** Scans a seller of MCP tools that uses the official Python package, as `--mcp` does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../fixtures/needs.ts';
import { startMcpSeller } from '../../fixtures/sellers/python-sellers.ts';
import { type EngineUnderTest, NEWER_VERSION, resultOf, startEngine } from './engine-under-test.ts';

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

const seller = await startMcpSeller();
afterAll(async () => {
  if ('url' in seller) await seller[Symbol.asyncDispose]();
});
const { url, unavailable = null } = { url: '', unavailable: null, ...seller };

describe('x402.mcp on FastMCP', needs(unavailable), () => {
  test('gets a grade above F, because clients can pay its read-only tool', async () => {
    const outcome = await engine.scan(url, NEWER_VERSION, { mcp: { path: null } });
    const { report, observations } = outcome;
    const cells = ['P2', 'P3', 'P4', 'P5', 'P7', 'P8'].map((id) => {
      const { status, outcome: code } = resultOf(outcome, id);
      return `${id} ${status} ${code}`;
    });
    expect(cells).toEqual([
      'P2 pass challenged',
      'P3 pass valid',
      'P4 pass sound',
      'P5 pass no-settle',
      'P7 pass consistent',
      'P8 pass short-enough',
    ]);
    // Only the description has the price, and descriptions are for people.
    expect(resultOf(outcome, 'P6').outcome).toBe('undeclared');
    expect(report).toMatchObject({
      payableBy: 'default',
      grade: expect.stringMatching(/^[CD]$/),
      payability: [{ method: 'POST', path: '/mcp#get_weather', payableBy: 'default' }],
    });
    expect(observations.resources).toMatchObject({ declared: 2, uncalledTools: 1 });
  });

  test('has no paid resource for a scan without --mcp', async () => {
    const outcome = await engine.scan(url);
    expect(resultOf(outcome, 'P2').outcome).toBe('none-found');
  });
});
