import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { Agent } from 'undici';
import { classifyFailure, OurFault } from '../../scanner/guard/failures.ts';
import type { Address } from '../../scanner/guard/name-servers.ts';
import { PayTestImpossible } from './result.ts';

/** The seller under test. Its name is resolved once, and the pay-test connects only to these addresses. */
export type Target = {
  /** "http://127.0.0.1:3000" */
  readonly origin: string;
  readonly hostname: string;
  readonly port: number;
  readonly addresses: readonly [Address, ...Address[]];
};

const OWN_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);

/**
 * True for addresses in loopback, RFC 1918 and fc00::/7. No URL can hold an address with a zone ("fd00::1%eth0"), so
 * the seller could not call a facilitator there.
 */
export function isOwnAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  return OWN_RANGES.has(ipaddr.process(address).range());
}

export type NameLookup = (hostname: string) => Promise<readonly Address[]>;

const systemLookup: NameLookup = async (hostname) => {
  const addresses = await lookup(hostname, { all: true });
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** Throws PayTestImpossible for public addresses. */
export async function resolveTarget(
  input: string,
  resolveName: NameLookup = systemLookup,
): Promise<Target> {
  const url = URL.parse(input.includes('://') ? input : `http://${input}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new PayTestImpossible(
      `${input}: give the address of your seller, such as http://127.0.0.1:3000`,
    );
  }
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await resolveOwnAddresses(hostname, resolveName);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { origin: url.origin, hostname, port, addresses };
}

/** Throws PayTestImpossible if any address of the name is public. */
export async function resolveOwnAddresses(
  hostname: string,
  resolveName: NameLookup = systemLookup,
): Promise<readonly [Address, ...Address[]]> {
  const addresses = await resolveName(hostname).catch(() => []);
  const [first, ...others] = addresses;
  if (first === undefined)
    throw new PayTestImpossible(`${hostname} does not resolve: check the name`);
  const publicAddress = addresses.find(({ address }) => !isOwnAddress(address));
  if (publicAddress === undefined) return [first, ...others];
  throw new PayTestImpossible(
    `${hostname} is at ${publicAddress.address}: a pay-test asks only loopback and private addresses, because it is for your own seller`,
  );
}

export type SellerAnswer = {
  readonly ok: true;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly ms: number;
};

export type NoAnswer = {
  readonly ok: false;
  /** `silent`: no answer came in time. `broken`: the connection was closed or never opened. */
  readonly why: 'silent' | 'broken';
  readonly ms: number;
};

export type SellerReply = SellerAnswer | NoAnswer;

export type Request = {
  readonly method: string;
  /** Sent unchanged. It may also be the absolute form of a request target ("http://host/path"). */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs?: number;
};

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_HEADER_BYTES = 256 * 1024;
/** The shortest time that undici accepts: it closes the connection at once. */
const KEEP_ALIVE_MS = 1;
const WAIT_FOR_PROCESS_END_MS = 500;

/** Sends requests to the seller's pinned addresses only, and follows no redirect. */
export class SellerClient {
  readonly #target: Target;
  readonly #agent: Agent;
  readonly #answerMs: number;

  constructor(target: Target, answerMs: number) {
    this.#target = target;
    this.#answerMs = answerMs;
    const pinnedLookup: LookupFunction = (_hostname, options, done) => {
      const [{ address, family }] = target.addresses;
      if (options.all) done(null, [...target.addresses]);
      else done(null, address, family);
    };
    // Each request has its own connection. If the seller closed a reused idle connection, we would see a hang-up.
    this.#agent = new Agent({
      connect: { lookup: pinnedLookup },
      pipelining: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  }

  get origin(): string {
    return this.#target.origin;
  }

  /** Rejects with OurFault if the fault is ours. A failure of the seller is a reply. */
  async send({
    method,
    path,
    headers = {},
    body,
    timeoutMs = this.#answerMs,
  }: Request): Promise<SellerReply> {
    const startMs = performance.now();
    const signal = AbortSignal.timeout(timeoutMs);
    const elapsed = () => performance.now() - startMs;
    try {
      const answer = await this.#agent.request({
        origin: this.#target.origin,
        path,
        method: method as 'GET', // undici's type lists only the usual methods
        headers: {
          accept: 'application/json, */*;q=0.5',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body ?? null,
        signal,
      });
      return {
        ok: true,
        status: answer.statusCode,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: await readUpTo(answer.body, MAX_BODY_BYTES),
        ms: elapsed(),
      };
    } catch (error) {
      // The run was aborted.
      if (this.#agent.destroyed) throw error;
      const ms = elapsed();
      if (signal.aborted) return { ok: false, why: 'silent', ms };
      throwIfOurs(error);
      // A process closes its connections shortly before its end. After this wait, the caller sees the end.
      await pause(WAIT_FOR_PROCESS_END_MS);
      return { ok: false, why: 'broken', ms };
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Throws OurFault if this machine or our HTTP client failed, which says nothing about the seller. */
export function throwIfOurs(error: unknown): void {
  const { detail, remedy } = classifyFailure(error);
  if (remedy !== undefined) throw new OurFault(detail, remedy);
}

/** Reads a body, and stops after the piece in which it exceeds `maxBytes`. */
export async function readUpTo(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(pieces);
}
