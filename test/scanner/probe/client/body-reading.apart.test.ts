/** A body is read beyond 256 KiB only if it may be the document, and one body over 1 MiB is read a scan. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ask, clientFor, startOrigin } from './harness.ts';

const KIB = 1_024;
const MIB = KIB * KIB;
const OPTIONS = { capBytes: 8 * MIB, expectsJson: true };

async function startDocumentOrigin(body: string, encoding: string, status = 200) {
  return startOrigin((_request, response) => {
    if (encoding === 'plain') response.writeHead(status).end(body);
    else response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(body));
  });
}

describe.each(['plain', 'compressed'])('%s bodies at the path of a JSON document', (encoding) => {
  test.each([
    ['a page', '<!doctype html>'],
    ['a text of wide letters', '界'],
    ['blanks', ' '],
  ])('%s is cut at 256 KiB', async (_, start) => {
    const target = await startDocumentOrigin(start.padEnd(2 * MIB), encoding);
    const answer = await ask(clientFor(target), target, '/openapi.json', OPTIONS);
    expect(answer).toMatchObject({ ok: true, truncated: true });
    expect(answer.ok && answer.data.body.length).toBeLessThanOrEqual(256 * KIB);
  });

  test('an error is cut at 256 KiB, whatever its text', async () => {
    const target = await startDocumentOrigin('{'.padEnd(2 * MIB), encoding, 404);
    const answer = await ask(clientFor(target), target, '/openapi.json', OPTIONS);
    expect(answer).toMatchObject({ ok: true, truncated: true, data: { status: 404 } });
  });

  test('a document of 3.9 MB after a byte order mark is read, and a second one is cut', async () => {
    const body = `\uFEFF \n${JSON.stringify({ openapi: '3.1.0', a: 'x'.repeat(3_900_000) })}`;
    const target = await startDocumentOrigin(body, encoding);
    const client = clientFor(target);
    const first = await ask(client, target, '/openapi.json', OPTIONS);
    expect(first).toMatchObject({ ok: true, truncated: false });
    expect(first.ok && first.data.body.length).toBe(body.length - 1);
    const second = await ask(client, target, '/swagger.json', OPTIONS);
    expect(second).toMatchObject({ ok: true, truncated: true });
    expect(second.ok && second.data.body.length).toBeLessThanOrEqual(256 * KIB);
  });

  test('of a document over its cap, only the beginning is kept', async () => {
    const target = await startDocumentOrigin('{'.padEnd(3 * MIB), encoding);
    const options = { ...OPTIONS, capBytes: 2 * MIB };
    const answer = await ask(clientFor(target), target, '/openapi.json', options);
    expect(answer).toMatchObject({ ok: true, truncated: true });
    expect(answer.ok && answer.data.body.length).toBe(256 * KIB);
  });
});
