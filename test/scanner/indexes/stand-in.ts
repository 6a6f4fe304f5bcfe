import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenLocally } from '../../fixtures/service/local-server.ts';

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
  const local = await listenLocally(server);
  return {
    url: local.url,
    requestedPaths,
    forget: () => {
      requestedPaths.length = 0;
    },
    close: async () => {
      if (server.listening) await local[Symbol.asyncDispose]();
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
