import { Readable } from 'node:stream';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, askOk } from '../../../src/scanner/indexes/ask.ts';
import { requestContext, WHOLE } from './request-context.ts';

const INDEX_URL = 'https://index.example.com/look';
const CAP_BYTES = 1_000;
const mockIndex = () => nock('https://index.example.com');

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

function lookup() {
  return askOk(INDEX_URL, {
    ...requestContext(),
    capBytes: CAP_BYTES,
    parser: WHOLE,
    detail: null,
  });
}

describe('a request to an index', () => {
  test('sends our User-Agent and gives the parsed answer', async () => {
    mockIndex()
      .get('/look')
      .matchHeader('user-agent', 'x402-conformance-scanner/test')
      .reply(200, { a: 1 });
    expect(await lookup()).toEqual({ ok: true, value: { a: 1 } });
  });

  test('is a POST of JSON if it has a body', async () => {
    mockIndex()
      .post('/look', { q: 1 })
      .matchHeader('content-type', 'application/json')
      .reply(201, '"made"');
    const body = '{"q":1}';
    const reply = await ask(INDEX_URL, { ...requestContext(), body, parser: WHOLE, detail: null });
    expect(reply).toEqual({ ok: true, value: { status: 201, value: 'made' } });
  });

  test.each([
    [500, 'index.example.com answered 500'],
    [404, 'index.example.com answered 404'],
    [302, 'index.example.com answered 302'],
  ])('fails with the status %i and is sent only once', async (status, detail) => {
    const scope = mockIndex()
      .get('/look')
      .reply(status, 'no', { location: 'https://other.example.com/' });
    expect(await lookup()).toEqual({ ok: false, detail, pauseMs: 0 });
    expect(scope.isDone()).toBe(true);
  });

  test('reads an answer that arrives in pieces of one byte', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(CAP_BYTES - 20), b: 'é' });
    const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    mockIndex()
      .get('/look')
      .reply(200, () => Readable.from(pieces));
    expect(await lookup()).toEqual({ ok: true, value: JSON.parse(text) });
  });

  test('reads up to the byte limit and fails one byte beyond it', async () => {
    mockIndex()
      .get('/look')
      .reply(200, JSON.stringify('x'.repeat(CAP_BYTES - 2)));
    expect(await lookup()).toMatchObject({ ok: true });
    mockIndex()
      .get('/look')
      .reply(200, JSON.stringify('x'.repeat(CAP_BYTES - 1)));
    expect(await lookup()).toEqual({
      ok: false,
      detail: 'index.example.com answered with more than 1000 bytes',
      pauseMs: 0,
      isTooLong: true,
    });
  });

  test('fails with the error code if no server listens', async () => {
    mockIndex()
      .get('/look')
      .replyWithError(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: 'index.example.com could not be asked (ECONNREFUSED)',
    });
  });
});

describe.each([429, 503])('an index that is busy (%i)', (status) => {
  test('is asked once more after Retry-After', async () => {
    const scope = mockIndex()
      .get('/look')
      .reply(status, 'later', { 'retry-after': '0' })
      .get('/look')
      .reply(200, { a: 2 });
    expect(await lookup()).toEqual({ ok: true, value: { a: 2 } });
    expect(scope.isDone()).toBe(true);
  });

  test('may give Retry-After as a date', async () => {
    mockIndex()
      .get('/look')
      .reply(status, 'later', { 'retry-after': new Date(Date.now() - 1_000).toUTCString() })
      .get('/look')
      .reply(200, { a: 3 });
    expect(await lookup()).toEqual({ ok: true, value: { a: 3 } });
  });

  test('is not asked a third time', async () => {
    const scope = mockIndex().get('/look').times(3).reply(status, 'later', { 'retry-after': '0' });
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: `index.example.com answered ${status}`,
    });
    expect(scope.pendingMocks()).toHaveLength(1);
  });

  test('is not asked again if its Retry-After is longer than we wait, and the failure names that time', async () => {
    const scope = mockIndex().get('/look').twice().reply(status, 'later', { 'retry-after': '120' });
    expect(await lookup()).toEqual({
      ok: false,
      detail: `index.example.com answered ${status}`,
      pauseMs: 120_000,
      isBusy: true,
    });
    expect(scope.pendingMocks()).toHaveLength(1);
  });

  test('is left alone for at most ten minutes', async () => {
    mockIndex().get('/look').reply(status, 'later', { 'retry-after': '86400' });
    expect(await lookup()).toMatchObject({ ok: false, pauseMs: 600_000 });
  });
});
