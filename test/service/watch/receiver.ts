import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { listenLocally } from '../../fixtures/service/local-server.ts';

export type Received = {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly event: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly headers: Readonly<Record<string, string>>;
};

export type Reply = (
  received: Received,
  response: ServerResponse,
  request: IncomingMessage,
) => void | Promise<void>;

export type Receiver = AsyncDisposable & {
  readonly url: string;
  readonly host: string;
  readonly received: Received[];
  /** Sets the reply to all later requests. */
  setReply(reply: Reply): void;
  /** Types of the received events, in order. */
  eventTypes(): readonly string[];
};

/** Agrees to every watch, and takes every event. */
export const replyAgreed: Reply = ({ event }, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ challenge: event.data['challenge'] }));
};

/** Replies with this HTTP status. */
export function replyStatus(code: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return (_received, response) => void response.writeHead(code, headers).end();
}

/** A receiver of webhooks on a real socket. */
export async function startReceiver(reply: Reply = replyAgreed): Promise<Receiver> {
  let currentReply = reply;
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const event: Received['event'] = JSON.parse(body);
    const one = { id: headers['webhook-id'] ?? '', type: event.type, body, event, headers };
    received.push(one);
    await currentReply(one, response, request);
  });
  const local = await listenLocally(server);
  return {
    ...local,
    url: `${local.url}/hook?x=1`,
    received,
    setReply(next) {
      currentReply = next;
    },
    eventTypes: () => received.map(({ type }) => type),
  };
}

/** Throws if the signature is not that of the body. The clock of the test is not that of the library. */
export function verifySignature(secret: string, { headers, body, id }: Received): void {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signature = new Webhook(secret).sign(id, at, body);
  if (signature !== headers['webhook-signature']) throw new Error('a wrong signature');
}
