/** A client that costs less than what it measures: prepared requests on sockets that stay open. */
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

export type LoadRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
};

/** Describes the requests of a load. */
export type Manner = {
  readonly connections: number;
  /** Further lines of the head. */
  readonly headers: readonly string[];
  /** Number of requests that a client sends in all. It is low, so that limits count but refuse nobody. */
  readonly requestsOfClient: number;
};

/** Scripts send few headers on few connections. */
export const SCRIPTS: Manner = { connections: 8, headers: [], requestsOfClient: 25 };

/** Browsers send many headers on many connections. Each request comes from a new address. */
export const BROWSERS: Manner = {
  connections: 100,
  headers: [
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
    'Accept: */*',
    'Accept-Language: en-US,en;q=0.9,de;q=0.8',
    'Accept-Encoding: gzip, deflate, br, zstd',
    'Connection: keep-alive',
    'Cache-Control: no-cache',
    'Sec-Ch-Ua: "Chromium";v="126", "Not/A)Brand";v="8"',
    'Sec-Ch-Ua-Mobile: ?0',
    'Sec-Ch-Ua-Platform: "Linux"',
    'Sec-Fetch-Dest: empty',
    'Sec-Fetch-Mode: cors',
    'Sec-Fetch-Site: cross-site',
    'Origin: https://app.example.com',
    'Referer: https://app.example.com/',
  ],
  requestsOfClient: 1,
};

export type LoadOptions = {
  readonly port: number;
  readonly request: (n: number) => LoadRequest;
  readonly status: number;
  readonly durationMs: number;
  readonly clients: Clients;
  readonly manner: Manner;
};

/** Counts the requests so far. */
export type Clients = { sent: number };

export type LoadResult = { readonly count: number; readonly seconds: number };

/** Throws at the first answer with another status. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const startMs = performance.now();
  const turns = { n: 0, endsAt: startMs + options.durationMs };
  const counts = await Promise.all(
    Array.from({ length: options.manner.connections }, () => drive(options, turns)),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  return { count: counts.reduce((sum, count) => sum + count, 0), seconds };
}

function drive(
  { port, request, status, clients, manner }: LoadOptions,
  turns: { n: number; readonly endsAt: number },
): Promise<number> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  const expected = `HTTP/1.1 ${status} `;
  return new Promise((resolve, reject) => {
    let answered = 0;
    let text = '';
    const send = () => {
      turns.n += 1;
      clients.sent += 1 / manner.requestsOfClient;
      socket.write(written(request(turns.n), Math.floor(clients.sent), manner));
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

/** Length of the whole answer; null until its head has arrived. */
function lengthOf(text: string): number | null {
  const head = text.indexOf(HEAD_END);
  if (head === -1) return null;
  const start = text.toLowerCase().indexOf('content-length: ');
  const bytes = start === -1 || start > head ? 0 : Number.parseInt(text.slice(start + 16), 10);
  return head + HEAD_END.length + bytes;
}

function written(
  { method, path, body = '' }: LoadRequest,
  client: number,
  { headers }: Manner,
): string {
  const address = `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`;
  const line = `${method} ${path} HTTP/1.1`;
  const head = [line, 'Host: scanner.test', ...headers, `X-Forwarded-For: ${address}`];
  if (body !== '') {
    head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${head.join('\r\n')}${HEAD_END}${body}`;
}
