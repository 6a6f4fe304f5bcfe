/** A seller that is right in everything, but for what a test has it get wrong. */
import { text } from 'node:stream/consumers';
import { type Seller, serve } from '../sellers/seller.ts';
import {
  discoveryDocuments,
  openApiDocument,
  SUMMARY,
  WEATHER,
} from '../sellers/seller-documents.ts';
import type { ServerCertificate } from '../tls/test-ca.ts';
import { countSockets } from './count-sockets.ts';
import { challengeAnswer, challengeOf } from './crafted-challenge.ts';

export type CraftedAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Text and bytes as they are, anything else as JSON. */
  readonly body?: unknown;
};

export type CraftedRequest = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  /** 1 for the first request of this method and path. */
  readonly number: number;
  /** Where buyers reach the seller: "http://127.0.0.1:40123". */
  readonly origin: string;
};

/** What is sent instead of the usual answer; null is the usual one. */
export type Answering = (request: CraftedRequest, usual: CraftedAnswer) => CraftedAnswer | null;

export type CraftedOptions = {
  /** By "GET /weather", by "/weather" for all methods, or by "*"; the first of the three decides. */
  readonly answers?: Readonly<Record<string, Answering | CraftedAnswer>>;
  /** Paths whose requests are never answered. */
  readonly hangs?: readonly string[];
  readonly tls?: ServerCertificate;
};

export type CraftedSeller = Seller & {
  /** Everything that was asked for, in the order of arrival. */
  readonly requests: readonly CraftedRequest[];
  /** The most connections with a request that were open at a time. */
  peakSockets(): number;
};

/** Sells GET /weather and POST /summaries; GET /health is free. */
export async function startCraftedSeller(options: CraftedOptions = {}): Promise<CraftedSeller> {
  const requests: CraftedRequest[] = [];
  const sockets = countSockets();
  const scheme = options.tls ? 'https' : 'http';
  const seller = await serve(async (incoming, response) => {
    sockets.add(incoming.socket);
    const method = incoming.method ?? '';
    const path = incoming.url ?? '';
    const isSame = (one: CraftedRequest) => one.method === method && one.path === path;
    const request: CraftedRequest = {
      method,
      path,
      headers: incoming.headers,
      body: await text(incoming),
      number: requests.filter(isSame).length + 1,
      origin: `${scheme}://${incoming.headers.host}`,
    };
    requests.push(request);
    if (options.hangs?.includes(path)) return;
    const { status, headers = {}, body } = answerTo(request, options.answers ?? {});
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    response.end(method === 'HEAD' || body === undefined ? '' : bodyText(body));
  }, options.tls);
  return { ...seller, requests, peakSockets: sockets.peak };
}

function answerTo(
  request: CraftedRequest,
  answers: NonNullable<CraftedOptions['answers']>,
): CraftedAnswer {
  const usual = usualAnswer(request);
  const { pathname } = new URL(request.path, request.origin);
  const crafted = answers[`${request.method} ${pathname}`] ?? answers[pathname] ?? answers['*'];
  if (crafted === undefined) return usual;
  return (typeof crafted === 'function' ? crafted(request, usual) : crafted) ?? usual;
}

function usualAnswer({ method, path, origin }: CraftedRequest): CraftedAnswer {
  const { pathname } = new URL(path, origin);
  const documents = [openApiDocument(origin), ...discoveryDocuments(origin)];
  const document = documents.find((one) => one.path === pathname);
  if (document !== undefined && (method === 'GET' || method === 'HEAD')) {
    return { status: 200, headers: { 'content-type': document.type }, body: document.body };
  }
  if (pathname === '/health') return { status: 200, body: { status: 'ok' } };
  for (const sold of [WEATHER, SUMMARY]) {
    if (pathname !== sold.path) continue;
    const isSold = method === sold.method.toUpperCase() || (method === 'HEAD' && sold === WEATHER);
    if (isSold) return challengeAnswer(challengeOf(sold, origin));
    return { status: 405, headers: { allow: sold.method.toUpperCase() } };
  }
  return { status: 404, body: { error: `nothing at ${path}` } };
}

function bodyText(body: unknown): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}
