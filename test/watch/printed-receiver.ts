import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { parseAllowHosts } from '../../src/guard/origin.ts';
import { createProbeClient } from '../../src/probe/client/client.ts';
import { signHeaders } from '../../src/watch/deliveries.ts';
import { createPostWebhook } from '../../src/watch/post-webhook.ts';
import { freePort } from '../fixtures/service/free-port.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Runs a receiver, has it agree to a watch, and sends it what another secret signed. */
export async function deliverToPrinted(command: string, file: string): Promise<void> {
  const port = await freePort();
  const child = spawn(command, [file], {
    env: { ...process.env, PORT: String(port), WATCH_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
  }
  try {
    await untilListening(
      port,
      () => child.exitCode !== null,
      () => said,
    );
    const host = `127.0.0.1:${port}`;
    const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(host) };
    const post = createPostWebhook({ createClient: createProbeClient, policy, userAgent: 'test' });
    const data = { host: 'api.example.com', challenge: 'c-1' };
    const body = JSON.stringify({ type: 'watch.started', timestamp: '', data });
    const send = (secret: string) => {
      const headers = signHeaders(secret, 'msg_1', body, Date.now());
      return post({ url: `http://${host}/`, body, headers }, async () => true);
    };
    const agreed = await send(SECRET);
    expect(agreed.status).toBe(200);
    expect(JSON.parse(agreed.body)).toEqual({ challenge: 'c-1' });
    const other = await send(`whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(other.status === null || other.status >= 400).toBe(true);
    await expect.poll(() => said).toContain('watch.started');
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

async function untilListening(
  port: number,
  isOver: () => boolean,
  said: () => string,
): Promise<void> {
  for (;;) {
    if (isOver()) throw new Error(`the receiver ended: ${said()}`);
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
