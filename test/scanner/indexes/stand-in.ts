/** A server on loopback that plays a third party, records its requests, and can hang. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type StandIn = {
  readonly url: string;
  /** Path and query of each request, oldest first. */
  readonly requestedPaths: readonly string[];
  /** Empties `requestedPaths`. */
  forget(): void;
  close(): Promise<void>;
};

/** The answer to one request. With `hang` the server never answers. */
export type StandInAnswer =
  | {
      readonly status?: number;
      readonly retryAfter?: string;
      readonly location?: string;
      readonly json: unknown;
    }
  | 'hang';

export async function startStandIn(
  answer: (url: URL, body: string) => StandInAnswer | Promise<StandInAnswer>,
): Promise<StandIn> {
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? '');
    void respond(request, response, answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requestedPaths,
    forget: () => {
      requestedPaths.length = 0;
    },
    close: async () => {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (url: URL, body: string) => StandInAnswer | Promise<StandInAnswer>,
): Promise<void> {
  const body = (await request.toArray()).join('');
  const answered = await answer(new URL(request.url ?? '/', 'http://stand-in'), body);
  if (answered === 'hang') return;
  response.writeHead(answered.status ?? 200, {
    'content-type': 'application/json',
    ...(answered.location === undefined ? {} : { location: answered.location }),
    ...(answered.retryAfter === undefined ? {} : { 'retry-after': answered.retryAfter }),
  });
  response.end(JSON.stringify(answered.json));
}
