/** A client that costs less than what it measures: prepared requests on sockets that stay open. */
import { connect, type Socket } from 'node:net';

const CONNECTIONS = 8;
const REQUESTS_OF_CLIENT = 25;
const HEAD_END = '\r\n\r\n';

export type LoadRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
};

export type LoadOptions = {
  readonly port: number;
  readonly request: (n: number) => LoadRequest;
  readonly status: number;
  readonly durationMs: number;
  readonly clients: Clients;
};

/** Who asks; each sends few requests, ever, so that limits count and refuse nobody. */
export type Clients = { requests: number };

export type LoadResult = { readonly count: number; readonly seconds: number };

/** Throws at the first answer with another status. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const began = performance.now();
  const turns = { n: 0, endsAt: began + options.durationMs };
  const counts = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => drive(options, turns)),
  );
  const seconds = (performance.now() - began) / 1_000;
  return { count: counts.reduce((sum, count) => sum + count, 0), seconds };
}

function drive(
  { port, request, status, clients }: LoadOptions,
  turns: { n: number; readonly endsAt: number },
): Promise<number> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  const expected = `HTTP/1.1 ${status} `;
  return new Promise((resolve, reject) => {
    let answered = 0;
    let text = '';
    const send = () => {
      turns.n += 1;
      clients.requests += 1;
      socket.write(written(request(turns.n), Math.floor(clients.requests / REQUESTS_OF_CLIENT)));
    };
    socket.on('connect', send).on('error', reject);
    socket.on('close', () => reject(new Error('the server hung up')));
    socket.on('data', (piece: string) => {
      text += piece;
      const length = lengthOf(text);
      if (length === null || text.length < length) return;
      if (!text.startsWith(expected)) {
        end(socket);
        reject(new Error(`expected ${status}: ${text.slice(0, 2_000)}`));
        return;
      }
      text = '';
      answered += 1;
      if (performance.now() < turns.endsAt) return send();
      end(socket);
      resolve(answered);
    });
  });
}

function end(socket: Socket): void {
  socket.removeAllListeners('close').destroy();
}

/** Of the whole answer; null while its head is not there. */
function lengthOf(text: string): number | null {
  const head = text.indexOf(HEAD_END);
  if (head === -1) return null;
  const start = text.toLowerCase().indexOf('content-length: ');
  const bytes = start === -1 || start > head ? 0 : Number.parseInt(text.slice(start + 16), 10);
  return head + HEAD_END.length + bytes;
}

function written({ method, path, body = '' }: LoadRequest, client: number): string {
  const address = `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`;
  const head = [`${method} ${path} HTTP/1.1`, 'Host: scanner.test', `X-Forwarded-For: ${address}`];
  if (body !== '') {
    head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${head.join('\r\n')}${HEAD_END}${body}`;
}
