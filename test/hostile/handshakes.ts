/** Servers whose certificates take as long to check as a handshake may, in a process of their own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { costlyChain } from '../fixtures/tls/costly-handshakes.ts';

/** The most certificates that fit into 16 KiB. */
const LINKS = 9;
const HOST = '127.0.0.1';

export type Handshakes = {
  /** `127.0.0.1:40123`, one a server. */
  readonly hosts: readonly string[];
  /** Connections so far. */
  begun(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startHandshakes(count: number): Promise<Handshakes> {
  const child = fork(fileURLToPath(import.meta.url), [String(count)], {
    execArgv: ['--no-warnings'],
  });
  const [hosts] = await once(child, 'message');
  return {
    hosts,
    begun: async () => {
      child.send('begun');
      const [begun] = await once(child, 'message');
      return begun;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(Number(process.argv[2]));

async function serve(count: number): Promise<void> {
  const { TLSSocket } = await import('node:tls');
  const { key, cert } = await costlyChain(HOST, LINKS);
  const hosts: string[] = [];
  let begun = 0;
  for (let index = 0; index < count; index += 1) {
    const server = createServer((raw) => {
      begun += 1;
      raw.on('error', () => {});
      new TLSSocket(raw, { isServer: true, key, cert }).on('error', () => {});
    });
    server.listen(0, HOST);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // listening on TCP
    hosts.push(`${HOST}:${port}`);
  }
  process.on('message', () => process.send?.(begun));
  process.on('disconnect', () => process.exit());
  process.send?.(hosts);
}
