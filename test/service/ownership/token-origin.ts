import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { TOKEN_PATH } from '../../../src/service/ownership/token-reader.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { createTestCa } from '../../fixtures/tls/test-ca.ts';

export type TokenOrigin = AsyncDisposable & {
  /** `https://localhost:<port>` */
  readonly url: string;
  readonly host: string;
  /** Root certificate to trust. */
  readonly ca: string;
  /** Requests that came to the challenge path. */
  readonly visits: IncomingMessage[];
  /** Sets the answer at the path of the ownership token. Before the first call it is 404. */
  answer(handler: (response: ServerResponse) => void): void;
  /** 200 with this text. */
  serve(text: string): void;
};

/** A real seller on TLS that can put a file at the challenge path. */
export async function startTokenOrigin(): Promise<TokenOrigin> {
  const ca = await createTestCa();
  const visits: IncomingMessage[] = [];
  let handler: (response: ServerResponse) => void = (response) => response.writeHead(404).end();
  const server = createServer(await ca.issue({ hosts: ['localhost'] }), (request, response) => {
    if (request.url !== TOKEN_PATH) {
      response.end('elsewhere');
      return;
    }
    visits.push(request);
    handler(response);
  });
  const local = await listenLocally(server, 'localhost');
  return {
    ...local,
    url: `https://${local.host}`,
    ca: ca.pem,
    visits,
    answer: (next) => {
      handler = next;
    },
    serve: (text) => {
      handler = (response) =>
        void response.writeHead(200, { 'content-type': 'text/plain' }).end(text);
    },
  };
}
