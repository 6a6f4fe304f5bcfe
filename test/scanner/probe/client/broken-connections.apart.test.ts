import { describe, expect, test } from 'vitest';
import type { ProbeClient } from '../../../../src/scanner/probe/client/client.ts';
import {
  ask,
  clientFor,
  dataOf,
  onRequestLine,
  startRawOrigin,
  type TestOrigin,
} from './harness.ts';

const PATHS = Array.from({ length: 32 }, (_, index) => `/${index}`);
const OK_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('a connection that breaks', () => {
  test('fails only the request on it', async () => {
    const sendCounts = new Map<string, number>();
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, (line) => {
        sendCounts.set(line, (sendCounts.get(line) ?? 0) + 1);
        if (line.includes('/break')) socket.resetAndDestroy();
        else setTimeout(() => socket.write(OK_ANSWER), 20);
      });
    });
    const client = clientFor(target);
    await ask(client, target);
    const answers = await askAll(client, target, ['/break', ...PATHS.slice(0, 12)]);
    expect(answers[0]).toMatchObject({ ok: false, reason: 'reset' });
    expect(answers.slice(1).filter((answer) => !answer.ok)).toEqual([]);
    expect(Math.max(...sendCounts.values())).toBeLessThanOrEqual(2);
  });

  test('as the next request goes out makes the client repeat a GET, never a POST', async () => {
    let acceptedCount = 0;
    const lines: string[] = [];
    const target = await startRawOrigin((socket) => {
      acceptedCount += 1;
      let answeredCount = 0;
      onRequestLine(socket, (line) => {
        lines.push(line);
        if (answeredCount > 0) socket.resetAndDestroy();
        else socket.write(OK_ANSWER);
        answeredCount += 1;
      });
    });
    const client = clientFor(target);
    await ask(client, target);
    expect(dataOf(await ask(client, target, '/again')).body).toBe('ok');
    expect(acceptedCount).toBe(2);
    const post = await ask(client, target, '/post', { method: 'POST', body: '{}' });
    expect(post).toMatchObject({ ok: false, reason: 'reset' });
    expect(lines.filter((line) => line.startsWith('POST'))).toHaveLength(1);
  });

  test('because a body follows the answer to HEAD fails no other request', async () => {
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, (line) => {
        socket.write(line.startsWith('HEAD') ? `${OK_ANSWER}` : OK_ANSWER);
      });
    });
    const client = clientFor(target);
    await ask(client, target);
    const [headAnswer, ...otherAnswers] = await Promise.all([
      ask(client, target, '/head', { method: 'HEAD' }),
      ...PATHS.slice(0, 8).map((path) => ask(client, target, path)),
    ]);
    expect(dataOf(headAnswer).status).toBe(200);
    expect(otherAnswers.filter((answer) => !answer.ok)).toEqual([]);
  });

  test('at once, because the origin accepts only one, is not tried again', async () => {
    let acceptedCount = 0;
    const target = await startRawOrigin((socket) => {
      acceptedCount += 1;
      if (acceptedCount > 1) socket.resetAndDestroy();
      else onRequestLine(socket, () => socket.write(OK_ANSWER));
    });
    const client = clientFor(target);
    await ask(client, target);
    const answers = await askAll(client, target, PATHS.slice(0, 10));
    expect(answers.filter((answer) => !answer.ok)).toEqual([]);
    // The client tried five more connections, and none after the origin refused them.
    expect(acceptedCount).toBe(6);
    expect(dataOf(await ask(client, target, '/last')).body).toBe('ok');
  });
});

function askAll(client: ProbeClient, target: TestOrigin, paths: string[], timeoutMs = 30_000) {
  return Promise.all(paths.map((path) => ask(client, target, path, { timeoutMs })));
}
