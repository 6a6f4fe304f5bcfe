/** Origins on real sockets, scriptable down to the byte, and the guarded client in front of them. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import {
  allowOrigin,
  DEFAULT_POLICY,
  type Origin,
  type OriginPolicy,
  parseOrigin,
} from '../../../../src/scanner/guard/origin.ts';
import type { HttpData, Observation } from '../../../../src/scanner/model/observation.ts';
import {
  createProbeClient,
  type ProbeClient,
  type ProbeClientOptions,
  type ProbeRequest,
} from '../../../../src/scanner/probe/client/client.ts';
import type { ServerCertificate } from '../../../fixtures/tls/test-ca.ts';

export type TestOrigin = {
  readonly origin: Origin;
  readonly policy: OriginPolicy;
  readonly port: number;
  /** Number of accepted connections. */
  readonly connections: () => number;
  readonly server: Server;
};

export type HttpOrigin = TestOrigin & {
  /** "GET /path" for each request, in the order of arrival. */
  readonly requests: readonly string[];
};

/** An HTTP server with Node's own manners; ends with the test. */
export async function startOrigin(
  handler: RequestListener,
  options: { tls?: ServerCertificate; host?: string } = {},
): Promise<HttpOrigin> {
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handler(request, response);
  };
  const server = options.tls
    ? createHttpsServer(options.tls, listener)
    : createHttpServer(listener);
  return { ...(await listen(server, options)), requests };
}

/** A server that gets the bare socket of each connection, after TLS if there is any. */
export function startRawOrigin(
  onSocket: (socket: Socket) => void,
  options: { tls?: ServerCertificate; host?: string } = {},
): Promise<TestOrigin> {
  const quietly = (socket: Socket) => {
    socket.on('error', () => {
      // These tests expect that the client closes in the middle of an answer.
    });
    onSocket(socket);
  };
  const server = options.tls
    ? createTlsServer(options.tls, quietly).on('tlsClientError', () => {})
    : createTcpServer(quietly);
  return listen(server, options);
}

/** Calls back with the request line of each request head that arrives on a socket. */
export function onRequestLine(socket: Socket, callback: (line: string) => void): void {
  let buffered = '';
  socket.on('data', (chunk) => {
    buffered += chunk.toString('latin1');
    const heads = buffered.split('\r\n\r\n');
    buffered = heads.pop() ?? '';
    for (const head of heads) callback(head.split('\r\n')[0] ?? '');
  });
}

/** A client for that origin, closed when the test ends. */
export function clientFor(
  target: Pick<TestOrigin, 'policy'>,
  options: Partial<ProbeClientOptions> = {},
): ProbeClient {
  // The limits are long, because the machine may be busy. Tests of a limit set their own.
  const limits = { connectTimeoutMs: 30_000, requestTimeoutMs: 45_000, ...options.limits };
  const common = { policy: target.policy, userAgent: 'test/1' };
  const client = createProbeClient({ ...common, ...options, limits });
  onTestFinished(() => client.close());
  return client;
}

export function ask(
  client: ProbeClient,
  { origin }: Pick<TestOrigin, 'origin'>,
  path = '/',
  rest: Partial<ProbeRequest> = {},
): Promise<Observation<HttpData>> {
  const defaults = { method: 'GET', capBytes: 65_536, redirects: 'none' } as const;
  return client.request({ origin, path, ...defaults, ...rest });
}

/** The data of an answer; fails the test if there was none. */
export function dataOf(observation: Observation<HttpData>): HttpData {
  if (observation.ok) return observation.data;
  throw new Error(`no answer: ${observation.reason}, ${observation.detail}`);
}

export async function listen(
  server: Server,
  { tls, host = 'localhost' }: { tls?: ServerCertificate; host?: string },
): Promise<TestOrigin> {
  const open = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  const url = `${tls ? 'https' : 'http'}://${host}:${port}`;
  const policy = allowOrigin(url, DEFAULT_POLICY);
  return { origin: parseOrigin(url, policy), policy, port, connections: () => accepted, server };
}
