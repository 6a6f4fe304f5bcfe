import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { parseAllowHosts } from '../../../src/scanner/guard/origin.ts';
import { postWebhook, signHeaders } from '../../../src/service/watch/deliveries.ts';
import { freePort } from '../../fixtures/service/free-port.ts';
import { withRealClient } from '../turns/turn-clients.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Runs a receiver. The receiver must agree to a watch, and must refuse an event that another secret signed. */
export async function expectReceiverToVerify(command: string, file: string): Promise<void> {
  const port = await freePort();
  const child = spawn(command, [file], {
    env: { ...process.env, PORT: String(port), WATCH_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
    });
  }
  try {
    await untilListening(
      port,
      () => child.exitCode !== null,
      () => output,
    );
    const address = `127.0.0.1:${port}`;
    const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(address) };
    const data = { host: 'api.example.com', challenge: 'c-1' };
    const body = JSON.stringify({ type: 'watch.started', timestamp: '', data });
    const send = (secret: string) => {
      const headers = signHeaders(secret, 'msg_1', body, Date.now());
      const request = { url: `http://${address}/`, body, headers };
      return withRealClient({ policy, userAgent: 'test' }, (client) =>
        postWebhook(request, client, policy),
      );
    };
    const agreement = await send(SECRET);
    expect(agreement.status).toBe(200);
    expect(JSON.parse(agreement.body)).toEqual({ challenge: 'c-1' });
    const refusal = await send(`whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(refusal.status === null || refusal.status >= 400).toBe(true);
    await expect.poll(() => output).toContain('watch.started');
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

async function untilListening(
  port: number,
  hasExited: () => boolean,
  readOutput: () => string,
): Promise<void> {
  for (;;) {
    if (hasExited()) throw new Error(`the receiver ended: ${readOutput()}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await pause(50);
  }
}
