/** Origins on bare sockets: what they send need not be HTTP, nor ever end. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Seller } from '../sellers/seller.ts';
import { countSockets } from './count-sockets.ts';

export type HostileRequest = {
  readonly method: string;
  readonly path: string;
  /** As sent, from the request line to the empty line. */
  readonly head: string;
  readonly body: string;
};

export type HostileOrigin = Seller & {
  readonly requests: readonly HostileRequest[];
  /** The most connections that were open at a time. */
  peakSockets(): number;
};

/** Called once for each request, with the socket to be nasty on. */
export type Behaviour = (socket: Socket, request: HostileRequest) => void;

export async function startHostileOrigin(behave: Behaviour): Promise<HostileOrigin> {
  const requests: HostileRequest[] = [];
  const sockets = countSockets();
  const all = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    all.add(socket);
    socket.on('close', () => all.delete(socket));
    socket.on('error', () => {
      // The scanner hangs up in the middle of things: that is what these origins are for.
    });
    readRequests(socket, (request) => {
      requests.push(request);
      behave(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    peakSockets: sockets.peak,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of all) socket.destroy();
      await closed;
    },
  };
}

function readRequests(socket: Socket, onRequest: (request: HostileRequest) => void): void {
  let buffered = '';
  socket.on('data', (chunk) => {
    buffered += chunk.toString('latin1');
    for (;;) {
      const end = buffered.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = buffered.slice(0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (buffered.length < end + 4 + length) return;
      const [method = '', path = ''] = head.split(' ', 2);
      onRequest({ method, path, head, body: buffered.slice(end + 4, end + 4 + length) });
      buffered = buffered.slice(end + 4 + length);
    }
  });
}

/** Writes a part now and then until the other side hangs up. */
export function drip(socket: Socket, part: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(part), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as the other side reads, until it hangs up. */
export function pour(socket: Socket, part: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(part)) {
      // Until the buffer of the socket is full.
    }
  };
  socket.on('drain', write);
  write();
}
