import type { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HttpMethod } from '../../../../src/scanner/model/observation.ts';
import { ask, clientFor, onRequestLine, startRawOrigin } from './harness.ts';

const LIMITS = { connectTimeoutMs: 30, requestTimeoutMs: 120, dialTimeoutMs: 200 };

/** One action of a server after a request head has arrived. */
const serverAction = fc.oneof(
  { weight: 6, arbitrary: fc.constant('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok') },
  fc.constantFrom(
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 204 No Content\r\ncontent-length: 3\r\n\r\nabc',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 402 X\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok',
    'HTTP/1.1 200 OK\r\n\r\nuntil the end',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 Stray\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 000 Zero\r\n\r\n',
    'HTTP/2 200 OK\r\n\r\n',
    'garbage\r\n\r\n',
    'silence',
    'end',
    'destroy',
    'reset',
  ),
);
const connectionScript = fc.record({
  greeting: fc.option(
    fc.constantFrom('SSH-2.0-x\r\n', 'HTTP/1.1 408 Timeout\r\n\r\n', 'reset', 'end'),
  ),
  actions: fc.array(serverAction, { minLength: 1, maxLength: 6 }),
  chunkBytes: fc.constantFrom(1, 7, 10_000),
});
const methods = fc.array(fc.constantFrom<HttpMethod>('GET', 'GET', 'GET', 'HEAD', 'POST'), {
  minLength: 1,
  maxLength: 14,
});

test('whatever a server does, each request ends within its bounds, and nothing is thrown', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(connectionScript, { minLength: 1, maxLength: 4 }),
      methods,
      runScripts,
    ),
    { numRuns: 40, endOnFailure: true },
  );
});

type Script = typeof connectionScript extends fc.Arbitrary<infer T> ? T : never;

async function runScripts(
  scripts: readonly Script[],
  requestMethods: readonly HttpMethod[],
): Promise<void> {
  let acceptedCount = 0;
  const postCounts = new Map<string, number>();
  const target = await startRawOrigin((socket) => {
    const script = scripts[acceptedCount++ % scripts.length];
    if (!script) return;
    if (script.greeting) doAction(socket, script.greeting, script.chunkBytes);
    let index = 0;
    onRequestLine(socket, (line) => {
      if (line.startsWith('POST')) postCounts.set(line, (postCounts.get(line) ?? 0) + 1);
      doAction(socket, script.actions[index++ % script.actions.length] ?? '', script.chunkBytes);
    });
  });
  const client = clientFor(target, { limits: LIMITS });
  const answers = await Promise.all(
    requestMethods.map((method, index) =>
      ask(client, target, `/${index}`, { method, capBytes: 1_000 }),
    ),
  );
  expect(answers).toHaveLength(requestMethods.length);
  // The client sends each request at most twice.
  expect(client.stats().requests).toBeLessThanOrEqual(2 * requestMethods.length);
  expect(Math.max(0, ...postCounts.values())).toBeLessThanOrEqual(1);
  expect(JSON.parse(JSON.stringify(answers))).toEqual(answers);
  client.close();
}

function doAction(socket: Socket, action: string, chunkBytes: number): void {
  if (socket.destroyed || action === 'silence') return;
  if (action === 'end') socket.end();
  else if (action === 'destroy') socket.destroy();
  else if (action === 'reset') socket.resetAndDestroy();
  else {
    for (let start = 0; start < action.length; start += chunkBytes) {
      socket.write(action.slice(start, start + chunkBytes));
    }
  }
}
