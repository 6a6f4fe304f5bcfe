/** A seller that means harm, in one of several ways. */
import type { RequestListener, ServerResponse } from 'node:http';

const CHUNK = 'x'.repeat(64 * 1_024);
/** A little under what is read of an OpenAPI document: all of it has to be parsed. */
const LARGE = 1_900_000;
const DRIP_INTERVAL_MS = 300;

const DEEP = `${'['.repeat(LARGE / 2)}${']'.repeat(LARGE / 2)}`;
const WIDE = `{"openapi":"3.1.0","paths":{${wideMembers()}}}`;

const KINDS: readonly ((response: ServerResponse) => void)[] = [
  (response) => flood(response.writeHead(200, { 'content-type': 'text/html' })),
  (response) => drip(response.writeHead(200, { 'content-type': 'application/json' })),
  (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(DEEP),
  (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(WIDE),
  (response) => response.writeHead(402, { 'payment-required': CHUNK.slice(0, 30_000) }).end(WIDE),
];

/** Endless bodies, slow ones, deep ones, wide ones, and challenges that are none, in turn. */
export function hostileSeller(n: number): RequestListener {
  const answer = KINDS[n % KINDS.length];
  return (_request, response) => answer?.(response);
}

function wideMembers(): string {
  const members: string[] = [];
  for (let n = 0, size = 0; size < LARGE; n += 1) {
    const member = `"/p${n}":{"get":{"x-payment-info":{"price":{"amount":"0.01"}}}}`;
    members.push(member);
    size += member.length + 1;
  }
  return members.join();
}

function flood(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(CHUNK)) setImmediate(flood, response);
  else response.once('drain', () => flood(response));
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('['), DRIP_INTERVAL_MS);
  response.once('close', () => clearInterval(timer));
}
