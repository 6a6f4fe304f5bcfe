/** A seller of tools on the official Python package, scanned as `--mcp` does, over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../fixtures/needs.ts';
import { startMcpSeller } from '../fixtures/sellers/python-sellers.ts';
import { type EngineUnderTest, NEWER, resultOf, startEngine } from './engine-under-test.ts';

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
  test('is payable, and not an F, by its paid read-only tool', async () => {
    const outcome = await engine.scan(url, NEWER, { mcp: { path: null } });
    const { report, observations } = outcome;
    const cells = ['P2', 'P3', 'P4', 'P5', 'P7', 'P8'].map((id) => {
      const { status, outcome: seen } = resultOf(outcome, id);
      return `${id} ${status} ${seen}`;
    });
    expect(cells).toEqual([
      'P2 pass challenged',
      'P3 pass valid',
      'P4 pass sound',
      'P5 pass no-settle',
      'P7 pass consistent',
      'P8 pass short-enough',
    ]);
    // Its price stands in the description alone, which is for people to read.
    expect(resultOf(outcome, 'P6').outcome).toBe('undeclared');
    expect(report).toMatchObject({
      payableBy: 'default',
      grade: expect.stringMatching(/^[CD]$/),
      payability: [{ method: 'POST', path: '/mcp#get_weather', payableBy: 'default' }],
    });
    expect(observations.resources).toMatchObject({ declared: 2, uncalledTools: 1 });
  });

  test('sells nothing that a scan without --mcp finds', async () => {
    const outcome = await engine.scan(url);
    expect(resultOf(outcome, 'P2').outcome).toBe('none-found');
  });
});
