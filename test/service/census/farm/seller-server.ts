/** All sellers behind one HTTP server, each at an address of its own, and the log of what reaches them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createListener, type Server } from 'node:net';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import type { CraftedAnswer } from '../../../fixtures/origins/crafted-answer.ts';
import { documentOf, type OwnVerdict, type StandInAnswer } from './kinds.ts';
import { type Seller, urlOf } from './world.ts';

export type LoggedRequest = {
  readonly name: string;
  /** The moved clock. */
  readonly atMs: number;
  readonly day: number;
  readonly method: string;
  readonly path: string;
  readonly userAgent: string;
  readonly told: OwnVerdict;
  /** The wait that the answer asks for; null if it asks for none. */
  readonly restMs: number | null;
  /** This machine's clock, at the request and at the end of the answer. */
  readonly begunMs: number;
  endedMs: number;
};

export type SellerServer = AsyncDisposable & {
  readonly port: number;
  readonly log: readonly LoggedRequest[];
  /** Called with each request, before its answer. */
  onRequest: (request: LoggedRequest) => void;
  /** The answer waits for it. */
  hold: (request: LoggedRequest) => Promise<void>;
};

const ROBOTS_PATH = '/robots.txt';
const NOT_FOUND: StandInAnswer = { told: 'not_payable', answer: { status: 404 } };
const OTHER_404: StandInAnswer = { told: 'other', answer: { status: 404 } };

export async function startSellers(
  sellers: readonly Seller[],
  now: () => number,
): Promise<SellerServer> {
  const byName = new Map(sellers.map((seller) => [seller.name, seller]));
  const log: LoggedRequest[] = [];
  const server = createServer((request, response) => {
    const name = request.headers.host ?? '';
    const seller = byName.get(name);
    if (seller === undefined) return void response.writeHead(421).end();
    const atMs = now();
    const standIn = answerOf(seller, request, utcDay(atMs));
    const logged: LoggedRequest = {
      ...{ name, atMs, day: utcDay(atMs), told: standIn.told },
      method: request.method ?? '',
      path: request.url ?? '',
      userAgent: request.headers['user-agent'] ?? '',
      restMs: restOf(standIn),
      begunMs: performance.now(),
      endedMs: Number.POSITIVE_INFINITY,
    };
    log.push(logged);
    response.on('close', () => {
      logged.endedMs = performance.now();
    });
    farm.onRequest(logged);
    void farm.hold(logged).then(() => send(standIn, response));
  });
  const { port, listeners } = await listen(sellers, server);
  const farm: SellerServer = {
    port,
    log,
    onRequest: () => undefined,
    hold: async () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await Promise.all(listeners.map((one) => once(one.close(), 'close')));
    },
  };
  return farm;
}

/** Opens one port at the address of each seller that is not dead. */
async function listen(sellers: readonly Seller[], server: Server) {
  const addresses = new Set(
    sellers.filter(({ kind }) => !kind.isDead).map(({ address }) => address),
  );
  const listeners: Server[] = [];
  let port = 0;
  for (const address of addresses) {
    const listener = createListener((socket) => void server.emit('connection', socket));
    await once(listener.listen(port, address), 'listening');
    listeners.push(listener);
    const bound = listener.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port');
    port = bound.port;
  }
  return { port, listeners };
}

function answerOf(
  seller: Seller,
  { method, url: path = '/' }: IncomingMessage,
  day: number,
): StandInAnswer {
  const { kind, paths } = seller;
  const url = urlOf(seller);
  if (path === ROBOTS_PATH) {
    return kind.robots === undefined ? OTHER_404 : { told: 'other', answer: kind.robots };
  }
  const at = paths.indexOf(path);
  const beyond = kind.beyond?.[path];
  if (method !== seller.method && at !== -1) return { told: 'other', answer: { status: 405 } };
  if (at !== -1) return kind.says({ url, path, at, day });
  if (beyond !== undefined) return beyond({ url, path, at: 0, day });
  if (seller.standing === 'farm' && path.startsWith('/more/'))
    return kind.says({ url, path, at: 0, day });
  const document = paths.length === 0 ? documentOf(url, path) : null;
  if (document !== null) return { told: 'other', answer: document };
  return path.startsWith('/nowhere') ? NOT_FOUND : OTHER_404;
}

function restOf({ answer }: StandInAnswer): number | null {
  const seconds = answer === 'cut' ? undefined : answer.headers?.['retry-after'];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}

function send({ answer }: StandInAnswer, response: ServerResponse): void {
  if (answer === 'cut') return void response.destroy();
  const { status, headers = {}, body = '' } = answer;
  response.writeHead(status, toHeaders(headers));
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function toHeaders(headers: NonNullable<CraftedAnswer['headers']>) {
  return Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).flatMap((one) => [name, one]),
  );
}
