import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ask, clientFor, dataOf, startOrigin } from './harness.ts';

describe('a body in a compression that the request did not accept', () => {
  const text = 'plain text '.repeat(20);
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ] as const)('is decoded once: %s', async (encoding, compress) => {
    const target = await startOrigin((request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity');
      response.setHeader('content-encoding', encoding).end(compress(text));
    });
    const answer = await ask(clientFor(target), target);
    expect(answer).toMatchObject({ ok: true, truncated: false, data: { body: text } });
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('is cut at the cap if it is a bomb of %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(8 * 1_048_576, 'a'));
    const target = await startOrigin((_, response) => {
      response.setHeader('content-encoding', encoding).end(bomb);
    });
    const answer = await ask(clientFor(target), target, '/', { capBytes: 65_536 });
    expect(answer).toMatchObject({ ok: true, truncated: true });
    expect(dataOf(answer).body).toHaveLength(65_536);
  });

  test('is whole if it has exactly the cap after decoding', async () => {
    const target = await startOrigin((_, response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('a'.repeat(1_000)));
    });
    const client = clientFor(target);
    expect(await ask(client, target, '/', { capBytes: 1_000 })).toMatchObject({ truncated: false });
    expect(await ask(client, target, '/', { capBytes: 999 })).toMatchObject({ truncated: true });
  });

  test.each(['gzip, gzip', 'zstd', 'gzip, br'])(
    'is not decoded, and counts as binary, with %s',
    async (encoding) => {
      const target = await startOrigin((_, response) => {
        response.setHeader('content-encoding', encoding).end(gzipSync(gzipSync(text)));
      });
      const data = dataOf(await ask(clientFor(target), target));
      expect(data).toMatchObject({ status: 200, body: '', binary: true });
    },
  );

  test('is cut and empty if it is not the gzip that the header says', async () => {
    const target = await startOrigin((_, response) => {
      response.setHeader('content-encoding', 'gzip').end('no gzip at all');
    });
    const answer = await ask(clientFor(target), target);
    expect(answer).toMatchObject({ ok: true, truncated: true, data: { body: '' } });
  });
});

describe('the text of a body', () => {
  test.each([
    ['text/plain; charset=iso-8859-1', Buffer.from('caf\u00e9', 'latin1'), 'café'],
    ['text/plain', Buffer.from('caf\u00e9', 'utf8'), 'café'],
    ['text/plain', Buffer.from('caf\u00e9', 'latin1'), 'caf\ufffd'],
    ['text/plain; charset=no-such', Buffer.from('caf\u00e9', 'utf8'), 'café'],
    ['application/json', Buffer.from('\ufeff{}', 'utf8'), '{}'],
    ['text/plain', Buffer.from('\ufeffhi', 'utf16le'), 'hi'],
  ])('is decoded for %s', async (type, bytes, expected) => {
    const target = await startOrigin((_, response) => {
      response.setHeader('content-type', type).end(bytes);
    });
    const data = dataOf(await ask(clientFor(target), target));
    expect(data.body).toBe(expected);
    expect(data.binary).toBeUndefined();
  });

  test('an image has no text', async () => {
    const target = await startOrigin((_, response) => {
      response
        .setHeader('content-type', 'image/png')
        .end(Buffer.from('89504e470d0a1a0a0000', 'hex'));
    });
    const data = dataOf(await ask(clientFor(target), target));
    expect(data).toMatchObject({ body: '', binary: true });
    expect(data.headers).toContainEqual(['content-type', 'image/png']);
  });
});
