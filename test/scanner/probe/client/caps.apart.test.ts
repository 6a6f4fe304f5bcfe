import { describe, expect, test } from 'vitest';
import { ask, clientFor, dataOf, onRequestLine, startOrigin, startRawOrigin } from './harness.ts';

describe('a body', () => {
  test.each(['content-length', 'chunked'])(
    'with %s is whole up to the cap, and one more byte is cut',
    async (framing) => {
      const target = await startOrigin((request, response) => {
        const body = 'a'.repeat(request.url === '/over' ? 1_001 : 1_000);
        if (framing === 'chunked') response.write(body.slice(0, 10));
        response.end(framing === 'chunked' ? body.slice(10) : body);
      });
      const client = clientFor(target);
      const fittingAnswer = await ask(client, target, '/fits', { capBytes: 1_000 });
      expect(fittingAnswer).toMatchObject({ ok: true, truncated: false });
      expect(dataOf(fittingAnswer).body).toHaveLength(1_000);
      const longAnswer = await ask(client, target, '/over', { capBytes: 1_000 });
      expect(longAnswer).toMatchObject({ ok: true, truncated: true, data: { status: 200 } });
      expect(dataOf(longAnswer).body).toHaveLength(1_000);
    },
  );

  test('without end is cut at the cap, and delays no later request', async () => {
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, (line) => {
        if (!line.includes('/endless')) {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
          return;
        }
        socket.write('HTTP/1.1 402 Payment Required\r\npayment-required: x\r\n\r\n');
        const pour = () => {
          while (!socket.destroyed && socket.write('z'.repeat(16_384))) {}
        };
        socket.on('drain', pour);
        pour();
      });
    });
    const client = clientFor(target);
    await ask(client, target);
    const [endlessAnswer, ...otherAnswers] = await Promise.all(
      ['/endless', '/a', '/b', '/c', '/d', '/e', '/f'].map((path) => ask(client, target, path)),
    );
    expect(endlessAnswer).toMatchObject({ ok: true, truncated: true, data: { status: 402 } });
    expect(dataOf(endlessAnswer ?? otherAnswers[0] ?? fail()).headers).toContainEqual([
      'payment-required',
      'x',
    ]);
    expect(otherAnswers.map((answer) => dataOf(answer).body)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
    ]);
    expect(client.stats().bytes).toBeLessThan(1_048_576);
  });

  test('that breaks off leaves its headers readable', async () => {
    const target = await startRawOrigin((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 402 X\r\ncontent-length: 9\r\nx-a: b\r\n\r\nhalf', () =>
          socket.destroy(),
        );
      });
    });
    const answer = await ask(clientFor(target), target);
    expect(answer).toMatchObject({ ok: true, truncated: true });
    expect(dataOf(answer)).toMatchObject({ status: 402, body: 'half', bodyFailure: 'reset' });
  });
});

describe('headers', () => {
  test('that repeat stay apart and in order, and their values are read as UTF-8 if valid, else as Latin-1', async () => {
    const target = await startRawOrigin((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nX-Utf: caf\u00e9\r\n', 'utf8');
        socket.write(
          'X-Latin: caf\u00e9 \r\ncontent-type: c/d\r\nContent-Length: 0\r\n\r\n',
          'latin1',
        );
      });
    });
    expect(dataOf(await ask(clientFor(target), target)).headers).toEqual([
      ['content-type', 'a/b'],
      ['x-utf', 'café'],
      ['x-latin', 'café'],
      ['content-type', 'c/d'],
      ['content-length', '0'],
    ]);
  });

  test('are read up to 128, and 129 are malformed', async () => {
    const target = await startAnsweringOrigin((path) => {
      const count = path === '/many' ? 129 : 128;
      return `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(count - 1)}content-length: 0\r\n\r\n`;
    });
    const client = clientFor(target);
    expect(dataOf(await ask(client, target, '/')).headers).toHaveLength(128);
    expect(await ask(client, target, '/many')).toMatchObject({ ok: false, reason: 'malformed' });
  });

  test('of 40 KiB are read, and of more than 64 KiB are malformed', async () => {
    const target = await startAnsweringOrigin((path) => {
      const size = (path === '/huge' ? 70 : 40) * 1_024;
      return `HTTP/1.1 200 OK\r\nx: ${'v'.repeat(size)}\r\ncontent-length: 0\r\n\r\n`;
    });
    const client = clientFor(target);
    expect(dataOf(await ask(client, target, '/')).headers[0]?.[1]).toHaveLength(40_960);
    expect(await ask(client, target, '/huge')).toMatchObject({ ok: false, reason: 'malformed' });
  });

  test('after 8 interim responses are read, and 9 interim responses are malformed', async () => {
    const target = await startAnsweringOrigin((path) => {
      const count = path === '/many' ? 9 : 8;
      return `${'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(count)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`;
    });
    const client = clientFor(target);
    expect(dataOf(await ask(client, target, '/')).status).toBe(200);
    expect(await ask(client, target, '/many')).toMatchObject({ ok: false, reason: 'malformed' });
  });
});

describe('a server that drips', () => {
  test.each([
    ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n', false],
    ['a status line', 'HTTP/1.1 200 ', 'O', false],
    ['headers', 'HTTP/1.1 200 OK\r\nx: ', 'y', false],
    ['a body', 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', 'z', true],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nz\r\n', true],
  ])('%s: the request ends at its time limit', async (_, start, drip, hasHeader) => {
    const target = await startRawOrigin((socket) => {
      socket.once('data', () => {
        socket.write(start);
        const timer = setInterval(() => socket.write(drip), 150);
        socket.on('close', () => clearInterval(timer));
      });
    });
    const answer = await ask(clientFor(target), target, '/', { timeoutMs: 1_000 });
    if (hasHeader) {
      expect(answer).toMatchObject({ ok: true, truncated: true, data: { bodyFailure: 'timeout' } });
    } else {
      expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
    }
    expect(answer.ms).toBeLessThan(20_000);
  });
});

describe('the budget of a scan', () => {
  test('allows as many requests as it has, and no later request', async () => {
    const target = await startOrigin((_, response) => response.end('ok'));
    const client = clientFor(target, { limits: { maxRequests: 5 } });
    const answers = await Promise.all(
      Array.from({ length: 7 }, (_, i) => ask(client, target, `/${i}`)),
    );
    expect(answers.filter((answer) => answer.ok)).toHaveLength(5);
    expect(answers.filter((answer) => !answer.ok && answer.reason === 'not-sent')).toHaveLength(2);
    expect(target.requests).toHaveLength(5);
    expect(client.stats().requests).toBe(5);
  });

  test('is 60 requests and 16 MiB by default', async () => {
    const target = await startOrigin((_, response) => response.end('ok'));
    const client = clientFor(target);
    await ask(client, target);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => ask(client, target, `/${i}`)),
    );
    expect(answers.filter((answer) => !answer.ok)).toMatchObject([{ reason: 'not-sent' }]);
    expect(target.requests).toHaveLength(60);
  });

  test('cuts the answer that uses up its bytes, and sends no further request', async () => {
    const target = await startOrigin((_, response) => response.end('b'.repeat(40_000)));
    const client = clientFor(target, { limits: { maxBytes: 60_000 } });
    expect(await ask(client, target, '/1')).toMatchObject({ ok: true, truncated: false });
    expect(await ask(client, target, '/2')).toMatchObject({
      ok: true,
      truncated: true,
      data: { bodyFailure: 'budget' },
    });
    expect(await ask(client, target, '/3')).toMatchObject({ ok: false, reason: 'budget' });
    expect(target.requests).toHaveLength(2);
  });
});

function startAnsweringOrigin(answer: (path: string) => string) {
  return startRawOrigin((socket) => {
    onRequestLine(socket, (line) => socket.write(answer(line.split(' ')[1] ?? '')));
  });
}

function fail(): never {
  throw new Error('no observation');
}
