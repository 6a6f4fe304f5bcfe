/** A body is kept in one buffer; an answer in too many small pieces is malformed. */
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../src/scanner/guard/limits.ts';
import { GrowingBuffer } from '../../../../src/scanner/probe/client/body-reading.ts';
import { ask, clientFor, dataOf, onRequestLine, startRawOrigin } from './harness.ts';

const MIB = 1_048_576;
const CHUNKED_HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** Writes `count` chunks of `bytes` bytes each, then the last chunk. */
function writeChunks(socket: Socket, count: number, bytes: number): void {
  const chunk = `${bytes}\r\n${'a'.repeat(bytes)}\r\n`;
  socket.write(`${CHUNKED_HEAD}${chunk.repeat(count)}0\r\n\r\n`);
}

/** The path `/COUNT/BYTES` sets the number of chunks and their size. */
function startChunkedOrigin() {
  return startRawOrigin((socket) => {
    onRequestLine(socket, (line) => {
      const [, count = '0', bytes = '0'] = /^GET \/(\d+)\/(\d+) /.exec(line) ?? [];
      writeChunks(socket, Number(count), Number(bytes));
    });
  });
}

describe('a body in chunks of a few bytes', () => {
  test.each([
    [20_000, 1],
    [20_000, 3],
    // A chunk that two socket reads share counts as two pieces, so chunks of 4 bytes would be too many.
    [20_100, 5],
    [20_100, 6],
    [20_100, 7],
    [195_000, 5],
  ])('is read whole if it has %i chunks of %i bytes', async (count, bytes) => {
    const target = await startChunkedOrigin();
    const answer = await ask(clientFor(target), target, `/${count}/${bytes}`, {
      capBytes: 2 * MIB,
    });
    expect(answer).toMatchObject({ ok: true, truncated: false });
    expect(dataOf(answer).body).toHaveLength(count * bytes);
  });

  test.each([
    [20_001, 1],
    [20_001, 2],
    [20_001, 3],
    [200_001, 4],
    [200_001, 7],
  ])('is malformed if it has %i chunks of %i bytes', async (count, bytes) => {
    const target = await startChunkedOrigin();
    const answer = await ask(clientFor(target), target, `/${count}/${bytes}`, {
      capBytes: 2 * MIB,
    });
    expect(answer).toMatchObject({
      ok: true,
      truncated: true,
      data: { status: 200, bodyFailure: 'malformed' },
    });
  });

  test('may have 200,000 pieces, and 20,000 small pieces', () => {
    expect(DEFAULT_LIMITS).toMatchObject({ maxBodyPieces: 200_000, smallBodyPieces: 20_000 });
  });
});

describe('the buffer of a body', () => {
  test('keeps the bytes that fit, and reports that the next bytes did not fit', () => {
    const buffer = new GrowingBuffer(5);
    expect(buffer.append(Buffer.from('abc'))).toBe(true);
    expect(buffer.append(Buffer.from('de'))).toBe(true);
    expect(buffer.append(Buffer.from('f'))).toBe(false);
    expect(buffer.view().toString()).toBe('abcde');
  });

  test('holds a million pieces without an object for each', () => {
    const buffer = new GrowingBuffer(2 * MIB);
    const read = Buffer.alloc(65_536, 'z');
    for (let index = 0; index < MIB; index += 1) {
      buffer.append(read.subarray(index % 65_536, (index % 65_536) + 1));
    }
    expect(buffer.view()).toHaveLength(MIB);
    expect(buffer.view().buffer.byteLength).toBeLessThanOrEqual(2 * MIB);
  });

  test('keeps a long body in pages of its own, and a short body in a shared buffer', () => {
    const buffer = new GrowingBuffer(2 * MIB);
    buffer.append(Buffer.alloc(16_384, 'a'));
    const shortBody = buffer.view();
    expect(shortBody.buffer).toHaveProperty('resizable', false);
    for (let mib = 0; mib < 3; mib += 1) buffer.append(Buffer.alloc(MIB, 'b'));
    const longBody = buffer.view();
    expect(longBody.buffer).toMatchObject({ resizable: true, byteLength: 2 * MIB });
    expect(longBody.equals(Buffer.concat([shortBody, Buffer.alloc(2 * MIB - 16_384, 'b')]))).toBe(
      true,
    );
  });

  test('respects a cap that is smaller than a page', () => {
    const buffer = new GrowingBuffer(512);
    expect(buffer.append(Buffer.alloc(513))).toBe(false);
    expect(buffer.view().buffer.byteLength).toBe(512);
  });

  test('takes no memory for an empty body', () => {
    expect(new GrowingBuffer(2 * MIB).view().buffer.byteLength).toBe(0);
  });
});
