/** A server on loopback that plays a third party, records its requests, and can hang. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type StandIn = {
  readonly url: string;
  /** Path and query of each request, oldest first. */
  readonly asked: readonly string[];
  /** Empties `asked`. */
  forget(): void;
  close(): Promise<void>;
};

/** The answer to one request. With `hang` the server never answers. */
export type Said =
  | {
      readonly status?: number;
      readonly retryAfter?: string;
      readonly location?: string;
      readonly json: unknown;
    }
  | 'hang';

export async function startStandIn(
  answer: (url: URL, body: string) => Said | Promise<Said>,
): Promise<StandIn> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    void respond(request, response, answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    forget: () => {
      asked.length = 0;
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
  answer: (url: URL, body: string) => Said | Promise<Said>,
): Promise<void> {
  const body = (await request.toArray()).join('');
  const said = await answer(new URL(request.url ?? '/', 'http://stand-in'), body);
  if (said === 'hang') return;
  response.writeHead(said.status ?? 200, {
    'content-type': 'application/json',
    ...(said.location === undefined ? {} : { location: said.location }),
    ...(said.retryAfter === undefined ? {} : { 'retry-after': said.retryAfter }),
  });
  response.end(JSON.stringify(said.json));
}
