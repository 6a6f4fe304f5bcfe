import { afterEach, describe, expect, test } from 'vitest';
import { askOk } from '../../../src/scanner/indexes/ask.ts';
import { requestContext, SHORT_MS, WHOLE } from './request-context.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const ANSWER_OPTIONS = { parser: WHOLE, detail: null };

describe('a source that hangs', () => {
  let source: StandIn;
  afterEach(() => source.close());

  test('fails at the time limit and names a pause of 30 s', async () => {
    source = await startStandIn(() => 'hang');
    const { port } = new URL(source.url);
    expect(await askOk(source.url, { ...requestContext(SHORT_MS), ...ANSWER_OPTIONS })).toEqual({
      ok: false,
      detail: `127.0.0.1:${port} did not answer within 300 ms`,
      pauseMs: 30_000,
    });
  });

  test('has one time limit for two requests if the second depends on the first', async () => {
    source = await startStandIn(({ pathname }) => (pathname === '/first' ? { json: 1 } : 'hang'));
    const timeLimit = new AbortController();
    const deadline = { timeoutMs: 3_000, signal: timeLimit.signal, leftMs: () => 3_000 };
    const sharedContext = { ...requestContext(), deadline, ...ANSWER_OPTIONS };
    expect(await askOk(`${source.url}/first`, sharedContext)).toEqual({ ok: true, value: 1 });
    timeLimit.abort();
    expect(await askOk(`${source.url}/second`, sharedContext)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('did not answer within 3000 ms'),
    });
    expect(source.requestedPaths).toEqual(['/first']);
  });
});
