/** Origins that speak HTTP/2 beside HTTP/1.1, whose root waits until a session of HTTP/2 stands. */
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { ProbeClient, ProbeRequest } from '../../../src/probe/client/client.ts';
import { onStream } from '../../fixtures/origins/http2-frames.ts';
import { createTestCa } from '../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, listen, type TestOrigin } from './harness.ts';

export const OVER_1 = 'over HTTP/1.1';
export const OVER_2 = 'over HTTP/2';

export type TwofoldOrigin = TestOrigin & {
  /** "GET /path" for each request over HTTP/1.1, in the order of arrival. */
  readonly overHttp1: readonly string[];
  readonly ca: string;
};

const prepared = (async () => {
  const ca = await createTestCa();
  return { ca: ca.pem, tls: await ca.issue({ hosts: ['localhost'] }) };
})();

/** HTTP/2 as Node speaks it; `otherwise` answers over HTTP/1.1, the root too. */
export async function startSpoken(
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  otherwise?: RequestListener,
): Promise<TwofoldOrigin> {
  const { ca, tls } = await prepared;
  const { overHttp1, listener, standsNow } = plainSide(otherwise);
  const server = createSecureServer({ ...tls, allowHTTP1: true }, (request, response) => {
    if (request.httpVersionMajor === 2) return onRequest(request, response);
    // Over HTTP/1.1 they are what a listener of `node:http` gets.
    listener(request as never, response as never);
  });
  // The client has acknowledged our settings.
  server.on('session', (session) => {
    session.on('localSettings', standsNow);
    session.on('error', () => {});
  });
  return { ...(await listen(server, { tls })), overHttp1, ca };
}

/** HTTP/2 by hand: called once a session, once the client has begun it. */
export async function startFrames(onSession: (socket: TLSSocket) => void): Promise<TwofoldOrigin> {
  const { ca, tls } = await prepared;
  const { overHttp1, listener, standsNow } = plainSide();
  const plain = createServer(listener);
  const server = createTlsServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => {});
    if (socket.alpnProtocol !== 'h2') return plain.emit('connection', socket);
    socket.once('data', standsNow);
    return onSession(socket);
  });
  server.on('tlsClientError', () => {});
  return { ...(await listen(server, { tls })), overHttp1, ca };
}

/** Settings are up to the caller; `act` gets each request's stream. */
export function eachStream(
  first: Buffer,
  act: (socket: TLSSocket, stream: number, count: number) => void,
): (socket: TLSSocket) => void {
  return (socket) => {
    let count = 0;
    socket.write(first);
    onStream(socket, (stream) => act(socket, stream, ++count));
  };
}

/** A client that has the root, and with it a session. */
export async function clientWithSession(
  target: TwofoldOrigin,
  options: Parameters<typeof clientFor>[1] = {},
): Promise<ProbeClient> {
  const client = clientFor(target, { ...options, extraCa: [target.ca] });
  await ask(client, target, '/', { isFirstOfMany: true });
  return client;
}

export async function bodyOf(
  client: ProbeClient,
  target: TwofoldOrigin,
  path: string,
  rest: Partial<ProbeRequest> = {},
): Promise<string> {
  return dataOf(await ask(client, target, path, rest)).body;
}

function plainSide(answer: RequestListener = (_, response) => response.end(OVER_1)) {
  const overHttp1: string[] = [];
  const stands = Promise.withResolvers<void>();
  const listener: RequestListener = async (request, response) => {
    overHttp1.push(`${request.method} ${request.url}`);
    if (request.url === '/') await stands.promise;
    answer(request, response);
  };
  return { overHttp1, listener, standsNow: () => stands.resolve() };
}
