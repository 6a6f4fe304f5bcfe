import { createServer } from 'node:net';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import type { Seller } from '../fixtures/sellers/seller.ts';
import { listenLocally } from '../fixtures/service/local-server.ts';
import { createTestCa } from '../fixtures/tls/test-ca.ts';
import type { FarmOrigin } from './farm-origin.ts';
import { CLOCK_ORIGINS } from './origins/clocks.ts';
import { DOCUMENT_ORIGINS } from './origins/documents.ts';
import { REDIRECT_ORIGINS } from './origins/redirects.ts';
import { TLS_ORIGINS } from './origins/tls.ts';
import { VALUE_ORIGINS } from './origins/values.ts';
import { WIRE_ORIGINS } from './origins/wire.ts';

export const FARM: readonly FarmOrigin[] = [
  ...TLS_ORIGINS,
  ...WIRE_ORIGINS,
  ...CLOCK_ORIGINS,
  ...REDIRECT_ORIGINS,
  ...DOCUMENT_ORIGINS,
  ...VALUE_ORIGINS,
];

export type RunningFarm = AsyncDisposable & {
  /** The root that all right certificates of the farm chain up to, PEM. */
  readonly ca: string;
  /** By name. */
  readonly urls: ReadonlyMap<string, string>;
  /** Sellers that are right in everything. */
  readonly good: readonly string[];
  /** Connections to the service inside, which must stay at none. */
  reachedInside(): number;
};

const GOOD_SELLERS = 3;

export async function startFarm(origins: readonly FarmOrigin[] = FARM): Promise<RunningFarm> {
  await using running = new AsyncDisposableStack();
  const started = <T extends Seller>(seller: T): T => {
    running.defer(() => seller[Symbol.asyncDispose]());
    return seller;
  };
  const ca = await createTestCa();
  const inside = await listenInside();
  running.defer(() => inside[Symbol.asyncDispose]());
  const urls = new Map<string, string>();
  for (const { name, start } of origins) {
    const { url } = started(await start({ ca, inside: inside.host }));
    urls.set(name, url);
  }
  const good: string[] = [];
  for (let index = 0; index < GOOD_SELLERS; index += 1) {
    good.push(started(await startCraftedSeller()).url);
  }
  const kept = running.move();
  return {
    ca: ca.pem,
    urls,
    good,
    reachedInside: inside.reached,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A service that only this host should reach. */
async function listenInside() {
  let reached = 0;
  const server = createServer((socket) => {
    reached += 1;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
  });
  return { ...(await listenLocally(server)), reached: () => reached };
}
