import { afterEach, describe, expect, test } from 'vitest';
import { askOk } from '../../src/indexes/ask.ts';
import { requestContext, SHORT_MS, WHOLE } from './request-context.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const WHOLLY = { parser: WHOLE, detail: null };

describe('a source that hangs', () => {
  let source: StandIn;
  afterEach(() => source.close());

  test('costs the time limit, and is not asked again for a while', async () => {
    source = await startStandIn(() => 'hang');
    const { port } = new URL(source.url);
    expect(await askOk(source.url, { ...requestContext(SHORT_MS), ...WHOLLY })).toEqual({
      ok: false,
      detail: `127.0.0.1:${port} did not answer within 300 ms`,
      quietMs: 30_000,
    });
  });

  test('has one limit for questions that depend on each other', async () => {
    source = await startStandIn(({ pathname }) => (pathname === '/first' ? { json: 1 } : 'hang'));
    const time = new AbortController();
    const deadline = { timeoutMs: 3_000, signal: time.signal, leftMs: () => 3_000 };
    const shared = { ...requestContext(), deadline, ...WHOLLY };
    expect(await askOk(`${source.url}/first`, shared)).toEqual({ ok: true, value: 1 });
    time.abort();
    expect(await askOk(`${source.url}/second`, shared)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('did not answer within 3000 ms'),
    });
    expect(source.asked).toEqual(['/first']);
  });
});
