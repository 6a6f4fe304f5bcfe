import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { forkScript } from '../fixtures/service/forked-script.ts';
import { listenLocally } from '../fixtures/service/local-server.ts';
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
  const script = fileURLToPath(import.meta.url);
  const { child, message: hosts, ...forked } = await forkScript<string[]>(script, [String(count)]);
  return {
    ...forked,
    hosts,
    begun: async () => {
      child.send('begun');
      const [begun] = await once(child, 'message');
      return begun;
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
    hosts.push((await listenLocally(server, HOST)).host);
  }
  process.on('message', () => process.send?.(begun));
  process.on('disconnect', () => process.exit());
  process.send?.(hosts);
}
