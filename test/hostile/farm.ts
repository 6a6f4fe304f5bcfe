/** The fault farm: hostile origins by name, each with the finding that a scan must report. */
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
  /** Root of the valid certificates of the farm, PEM. */
  readonly ca: string;
  /** URLs by the name of the origin. */
  readonly urls: ReadonlyMap<string, string>;
  /** URLs of sellers without a fault. */
  readonly good: readonly string[];
  /** Number of connections to a service that only this host should reach. A safe scanner makes none. */
  reachedInside(): number;
};

const GOOD_SELLERS = 3;

export async function startFarm(origins: readonly FarmOrigin[] = FARM): Promise<RunningFarm> {
  await using running = new AsyncDisposableStack();
  const keep = <T extends Seller>(seller: T): T => {
    running.defer(() => seller[Symbol.asyncDispose]());
    return seller;
  };
  const ca = await createTestCa();
  const inside = await listenInside();
  running.defer(() => inside[Symbol.asyncDispose]());
  const urls = new Map<string, string>();
  for (const { name, start } of origins) {
    const { url } = keep(await start({ ca, internalHost: inside.host }));
    urls.set(name, url);
  }
  const good: string[] = [];
  for (let index = 0; index < GOOD_SELLERS; index += 1) {
    good.push(keep(await startCraftedSeller()).url);
  }
  const disposables = running.move();
  return {
    ca: ca.pem,
    urls,
    good,
    reachedInside: inside.reached,
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
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
